"""What users and providers wrote, in an operator's terminal and on Dagster's pages."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from comic_pipeline.defs.metadata import link, picture, shot_links
from comic_pipeline.display import print_projects, print_status, print_verdicts
from comic_pipeline.model.errors import ErrorCode, Refused
from comic_pipeline.model.media import MediaRef
from comic_pipeline.model.verdict import Severity, Verdict
from comic_pipeline.objects.folder import FolderStore
from comic_pipeline_tests.builders import NOW, a_picture, a_project, a_status

_HOSTILE = "[/red][link=https://evil.example]click[/link]\x1b]0;owned\x07\x1b[2J\x9b31m\u202egpj.exe"
_SHOWN = "[/red][link=https://evil.example]click[/link]"


def _screen() -> tuple[Console, io.StringIO]:
    paper = io.StringIO()
    return Console(file=paper, width=200, force_terminal=False), paper


def _check(shown: str) -> None:
    assert _SHOWN in shown
    assert not set(shown) & {"\x1b", "\x07", "\x9b", "\u202e"}


def test_markup_and_escapes_in_a_list_of_projects_are_only_letters() -> None:
    """A backend's own INSERT may hold any user id: `[/]` once ended the command, an escape would repaint the terminal."""
    console, paper = _screen()
    print_projects(console, [a_project(user_id=_HOSTILE, title=_HOSTILE)])
    _check(paper.getvalue())


def test_markup_and_escapes_in_a_status_are_only_letters() -> None:
    """Titles are a model's words, error messages quote a provider."""
    seen = a_status(title=_HOSTILE, error_code=ErrorCode.PROVIDER_ERROR, error_message=_HOSTILE)
    console, paper = _screen()
    print_status(console, seen)
    head, _, rest = paper.getvalue().partition("\n")
    _check(head)
    _check(rest)


def test_markup_and_escapes_in_a_reason_are_only_letters() -> None:
    """Whoever opened a gate wrote why."""
    opened = Verdict(
        project_id="p1",
        asset="clips",
        check="clips_qc",
        run_id="run",
        data_version="v",
        passed=True,
        severity=Severity.WARN,
        numbers="[]",
        override_by="op",
        override_reason=_HOSTILE,
        at=NOW,
    )
    console, paper = _screen()
    print_verdicts(console, [opened])
    _check(paper.getvalue())


@pytest.mark.parametrize(
    "key",
    ["projects/p1/a](javascript:alert(1)).png", "projects/p1/![](https://evil.example/x).png", "projects/p1/<img src=x>.png"],
)
def test_a_key_with_markdown_in_it_is_never_a_link_in_the_ui(tmp_path: Path, key: str) -> None:
    """Dagster renders these values as Markdown; keys are all that they are made of."""
    store = FolderStore(tmp_path, media_url="/logs/objects")
    media = a_picture().model_copy(update={"key": key})
    makers = (picture, link, lambda objects, one: shot_links(objects, [(0, one)]))
    for make in makers:
        with pytest.raises(Refused):
            make(store, media)
    good: MediaRef = a_picture()
    assert [make(store, good).value.count("](/logs/objects/projects/p1/") for make in makers] == [1, 1, 1]
