"""The review page: complete, self-contained, and safe whatever anybody wrote into titles, lines, names and findings."""

import asyncio
import base64
import json

import pytest

from comic_pipeline.media.probe import measure_image, measure_video
from comic_pipeline.model.media import ReviewPage
from comic_pipeline.model.task import TaskType
from comic_pipeline.model.verdict import Finding, Severity, Verdict
from comic_pipeline.objects.store import MissingObject
from comic_pipeline.stages import review_page
from comic_pipeline.stages.manifest import write_manifest
from comic_pipeline.stages.review_page import Material, write_review_page
from comic_pipeline.store import verdicts
from comic_pipeline_tests.builders import NOW
from comic_pipeline_tests.filmset import HOSTILE, TITLE, FilmSet
from comic_pipeline_tests.integration.stages.page import Page

# Elements that the template has. Anything else came out of somebody's words.
KNOWN = {
    *("html", "head", "meta", "title", "style", "body", "main", "nav", "section", "div", "span", "p", "h1", "h2", "pre", "code"),
    *("input", "label", "dl", "dt", "dd", "table", "tr", "th", "td", "a", "b", "br", "small", "figure", "figcaption"),
    *("img", "video", "audio"),
}


@pytest.fixture(scope="module", autouse=True)
def _judged(film_set: FilmSet) -> None:
    """One gate was opened by a person, another warns, all in hostile words."""
    finding = Finding(rule=HOSTILE, severity=Severity.WARN, seq=2, measured=HOSTILE, wanted="<b>other</b>")
    with film_set.workshop.database.write() as connection:
        for asset, facts in (
            ("voice_lines", {"override_by": HOSTILE, "override_reason": HOSTILE, "severity": Severity.ERROR}),
            ("final_video", {"numbers": json.dumps([finding.model_dump(mode="json")])}),
        ):
            usual = {"project_id": film_set.studio.project.id, "asset": asset, "check": f"{asset}_qc", "run_id": "r", "at": NOW}
            usual |= {"data_version": "v", "passed": True, "severity": Severity.WARN, "numbers": "[]"}
            verdicts.record(connection, Verdict.model_validate(usual | facts))


def _write(film_set: FilmSet, material: Material) -> tuple[ReviewPage, Page]:
    made = asyncio.run(write_review_page(film_set.studio, material, code_versions={}))
    return made, Page(film_set.workshop.objects.get(made.page.key).decode())


@pytest.fixture(scope="module")
def page(film_set: FilmSet, material: Material) -> Page:
    """The page as a browser reads it."""
    return _write(film_set, material)[1]


def _bytes(uri: str) -> bytes:
    head, _, data = uri.partition(",")
    assert head.startswith("data:")
    assert head.endswith(";base64")
    return base64.b64decode(data, validate=True)


def test_nothing_that_anybody_wrote_becomes_a_part_of_the_page(page: Page) -> None:
    """Titles, lines, speakers, findings, names and reasons full of tags, quotes and templates are shown as they were written."""
    tags = {tag for tag, _ in page.elements}
    assert tags <= KNOWN
    names = {name for _, attributes in page.elements for name in attributes}
    assert not any(name.startswith("on") for name in names)
    assert not [attributes for attributes in page.all("a") if not attributes["href"].startswith("/logs/objects/projects/p1/")]
    for written in (TITLE, HOSTILE, "</td><b>", "<b>other</b>"):
        assert " ".join(written.split()) in page.text
    assert "49" not in page.text.split()


def test_the_page_needs_no_server_and_lets_nothing_run(page: Page) -> None:
    """All media are in the page; its policy forbids scripts and anything from elsewhere, should escaping ever fail."""
    sources = [attributes["src"] for _, attributes in page.elements if "src" in attributes]
    assert len(sources) == 1 + 1 + 3 + 3 + 2 + 1
    assert all(_bytes(source) for source in sources)
    (policy,) = [meta["content"] for meta in page.all("meta") if meta.get("http-equiv") == "Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy


def test_what_plays_is_what_was_made(film_set: FilmSet, page: Page) -> None:
    """Film, clips and lines that are small with their own bytes, pictures as small copies."""
    shown = [film_set.footage.film.media, *(clip.media for clip in film_set.footage.clips.clips)]
    assert [_bytes(video["src"]) for video in page.all("video")] == [film_set.workshop.objects.get(one.key) for one in shown]
    lines = [line.media for line in film_set.footage.voices.lines if line.media]
    assert [_bytes(sound["src"]) for sound in page.all("audio")] == [film_set.workshop.objects.get(one.key) for one in lines]
    assert all(measure_image(_bytes(image["src"])).mime == "image/jpeg" for image in page.all("img"))


def test_verdicts_costs_versions_and_commands_are_told(film_set: FilmSet, page: Page) -> None:
    """What a person decides by: WARN findings, gates opened by hand, money with what was lost, earlier takes, what to type."""
    for words in ("voice_lines_qc", "opened by hand", "WARN", "frame_image ark_image 4 6 2", "comic review p1 approve --by NAME"):
        assert words in page.text
    assert "¥5.39" in page.text
    (early,) = [attributes["href"] for attributes in page.all("a") if "/frames/" in attributes["href"]]
    assert not any(frame.media.sha256[:12] in early for frame in film_set.footage.frames.frames)
    assert "OFL-1.1" in page.text


def test_the_same_film_gives_the_same_page_and_counts_what_to_look_at(film_set: FilmSet, material: Material) -> None:
    """A round that changed nothing must not make a new version; two things want to be looked at here."""
    first, _ = _write(film_set, material)
    assert _write(film_set, material)[0] == first
    assert first.warnings == 2 + sum(len(one.findings) for one in _other_verdicts(film_set))
    assert (first.embedded, first.linked) == (11, 0)


def _other_verdicts(film_set: FilmSet) -> list[Verdict]:
    with film_set.workshop.database.read() as connection:
        judged = verdicts.latest(connection, film_set.studio.project.id)
    return [one for one in judged if one.asset not in ("voice_lines", "final_video")]


def test_what_is_too_large_for_the_page_is_linked(film_set: FilmSet, material: Material, monkeypatch: pytest.MonkeyPatch) -> None:
    """Large clips and films are shown as smaller copies, and what still does not fit is a link: the page has an end."""
    for name, value in {"_FILM_AS_IT_IS": 1_000, "_CLIP_AS_IT_IS": 1_000, "_CLIP_SIDE": 161}.items():
        monkeypatch.setattr(review_page, name, value)
    small = asyncio.run(write_review_page(film_set.studio, material, code_versions={}))
    page = Page(film_set.workshop.objects.get(small.page.key).decode())
    assert "A smaller copy" in page.text
    film, *clips = (measure_video(_bytes(video["src"])) for video in page.all("video"))
    assert film.audio is not None
    assert (film.width, film.height, film.frames) == (320, 180, 51)
    assert [(clip.width, clip.height, clip.frames, clip.audio) for clip in clips] == [(160, 90, 12, None)] * 3

    budget = review_page._Luggage(film_set.workshop.objects.url, left=5)
    shown = budget.take(material.cover.media, b"123456")
    assert (shown.data, budget.linked, budget.embedded) == ("", [material.cover.media.key], [])
    assert budget.take(material.cover.media, b"12345").data


def test_a_version_whose_file_was_cleared_away_keeps_its_row(film_set: FilmSet) -> None:
    """Housekeeping may remove what no film uses: the page must not fail for it."""

    def gone(key: str) -> bytes:
        raise MissingObject(f"there is no object at {key}")

    provenance = asyncio.run(write_manifest(film_set.studio, film_set.footage.film.media, files=[], code_versions={}))

    rows = review_page._versions(provenance, gone, review_page._Luggage(film_set.workshop.objects.url))

    assert [(row.task.task_type, row.in_film, row.picture) for row in rows] == [
        (TaskType.FRAME_IMAGE, False, None),
        (TaskType.FILM_RENDER, True, None),
    ]
