"""Both doors of a running deployment: the commands of the README's section for backends, and one key through both doors."""

import asyncio
import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from comic_pipeline.client import Answer, Backend, Check, Costs, Film, Refused, Run, Status
from comic_pipeline_tests.deployment import Deployment, wait_for
from comic_pipeline_tests.ports import free_port
from comic_pipeline_tests.readme import blocks

pytestmark = pytest.mark.timeout(280)

SECTION = "From a backend"
ID_IN_README = "p-20261130-0123456789"

# Where there is no curl: reads the same options, sends the same bytes.
_CURL = """#!{python}
import sys, httpx
arguments = [argument for argument in sys.argv[1:] if argument != "-sS"]
url, header = arguments[0], arguments[arguments.index("-H") + 1]
assert arguments[1:] == ["-H", header, "--data-binary", "@-"], arguments
name, value = header.split(": ")
print(httpx.post(url, content=sys.stdin.buffer.read(), headers={{name: value}}, timeout=60).text)
"""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """One deployment for all tests of this module. Nobody writes its stories: films would take the machine from the doors."""
    nobody = {"COMIC_TEXT_PROVIDER": "ark", "ARK_API_KEY": "none", "ARK_BASE_URL": f"http://127.0.0.1:{free_port()}/api/v3"}
    with Deployment(home=tmp_path_factory.mktemp("home"), environment=nobody) as deployment:
        yield deployment


class Shell:
    """A shell that has read the README's functions and types its commands."""

    def __init__(self, deployment: Deployment, folder: Path) -> None:
        self.functions = blocks(SECTION, "sh")[0].replace("127.0.0.1:3000", f"127.0.0.1:{deployment.web_port}")
        assert f":{deployment.web_port}/graphql" in self.functions
        self.path = os.environ["PATH"] if shutil.which("curl") else f"{_stand_in(folder)}:{os.environ['PATH']}"

    def type(self, command: str) -> Any:
        """One line of the README; the value of the answer's one root field."""
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", f"{self.functions}\n{command}"],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            env={"PATH": self.path, "LANG": "C.UTF-8", "no_proxy": "127.0.0.1"},
        )
        assert done.returncode == 0, done.stderr
        body = json.loads(done.stdout)
        assert "errors" not in body, body
        (root,) = body["data"].values()
        return root

    def ended(self, request: str) -> dict[str, Any]:
        """The run of a request once it has ended, as `answer` shows it; its tags as a mapping."""

        def look() -> dict[str, Any] | None:
            runs = self.type(f"answer {request}")["results"]
            ended = next((run for run in runs if run["status"] in ("SUCCESS", "FAILURE", "CANCELED")), None)
            # A look costs a shell, a curl and a query; a run takes some seconds.
            time.sleep(0 if ended else 0.75)
            return ended

        run: dict[str, Any] = wait_for(f"the answer to {request}", look, seconds=90)
        return run | {"tags": {tag["key"]: tag["value"] for tag in run["tags"]}}


def _stand_in(folder: Path) -> Path:
    script = folder / "curl"
    script.write_text(_CURL.format(python=sys.executable), encoding="utf-8")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return folder


def commands() -> dict[str, str]:
    """The README's commands without their comments, by their first two words."""
    lines = [line.split("  #")[0].strip() for line in blocks(SECTION, "sh")[1].splitlines()]
    return {" ".join(line.split()[:2]): line for line in lines}


def test_the_commands_of_the_readme_do_what_they_say(running: Deployment, tmp_path: Path) -> None:
    """Typed as they stand but for port and project. Its curl, its row and its Python have one key: they make one project."""
    shell, typed = Shell(running, tmp_path), commands()
    assert set(typed) == {
        "order submit_project",
        "answer request-1",
        f"status {ID_IN_README}",
        "order cancel_project",
        "order retry_project",
    }
    insert, select = (part.strip() for part in blocks(SECTION, "sql")[0].split(";")[:2])
    # Both doors with one key: the row lies there before the run that was launched has begun.
    assert shell.type(typed["order submit_project"])["__typename"] == "LaunchRunSuccess"
    _sql(running, insert)
    submitted = shell.ended("request-1")
    assert submitted["status"] == "SUCCESS"
    project_id = submitted["tags"]["comic/project"]
    assert json.loads(submitted["tags"]["comic/answer"])["project_id"] == project_id

    shell.type(typed["order cancel_project"].replace(ID_IN_README, project_id))
    cancelled = shell.ended("request-2")
    assert "effective_immediately" in json.loads(cancelled["tags"]["comic/answer"])
    wait_for("its end", lambda: running.status(project_id).status == "CANCELLED", seconds=60)
    assert wait_for("news of its end", lambda: _report(shell, typed, project_id)["status"] == "CANCELLED", seconds=30)

    # The Python and the SQL of the README ask for the same film with the same key: they find it, and make no other.
    made: dict[str, Any] = {}
    exec(blocks(SECTION, "python")[0], made)  # noqa: S102  # the README's own code
    asyncio.run(made["make"](f"http://127.0.0.1:{running.web_port}"))
    _sql(running, insert)
    ((status, found, answer, code, message),) = _sql(running, select)
    assert (status, found, code, message) == ("accepted", project_id, None, None)
    assert json.loads(answer)["project_id"] == project_id
    assert _sql(running, "SELECT count(*) FROM projects WHERE user_id = 'alice'") == [(1,)]

    shell.type(typed["order retry_project"].replace(ID_IN_README, project_id))
    assert shell.ended("request-3")["status"] == "SUCCESS"
    assert running.status(project_id).retry_count == 1


def _report(shell: Shell, typed: dict[str, str], project_id: str) -> dict[str, Any]:
    (event,) = shell.type(typed[f"status {ID_IN_README}"].replace(ID_IN_README, project_id))["latestMaterializationByPartition"]
    (report,) = (entry["jsonString"] for entry in event["metadataEntries"] if entry["label"] == "report")
    seen: dict[str, Any] = json.loads(report)
    return seen


@pytest.mark.endurance
def test_one_key_through_both_doors_at_once_makes_one_project(running: Deployment) -> None:
    """Row and launch, twice each and all at the same moment: one submission, one project, one answer."""
    url = f"http://127.0.0.1:{running.web_port}"
    film = Film(idea="一只小狗学会了飞")
    insert = """
    INSERT INTO submissions (kind, user_id, tier, idempotency_key, payload)
    VALUES ('produce', 'bob', 'paid', 'both', '{"idea": "一只小狗学会了飞"}') ON CONFLICT (user_id, idempotency_key) DO NOTHING
    """

    async def at_once() -> tuple[Answer, Answer]:
        async with Backend(url) as one, Backend(url) as other:
            first, _, second, _ = await asyncio.gather(
                one.submit(film, user="bob", tier="PAID", key="both"),
                asyncio.to_thread(_sql, running, insert),
                other.submit(film, user="bob", tier="PAID", key="both"),
                asyncio.to_thread(_sql, running, insert),
            )
            return first, second

    first, second = asyncio.run(at_once())
    assert (first.project_id, first.submission_id) == (second.project_id, second.submission_id)
    assert _sql(running, "SELECT status, project_id FROM submissions WHERE user_id = 'bob'") == [("accepted", first.project_id)]
    assert _sql(running, "SELECT id FROM projects WHERE user_id = 'bob'") == [(first.project_id,)]


def test_the_stand_in_for_curl_sends_the_same(running: Deployment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine without curl the README's commands are run all the same: no test is skipped."""
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    shell = Shell(running, tmp_path)
    assert str(tmp_path) in shell.path
    assert shell.type("answer nobody-asked")["results"] == []


@pytest.mark.endurance
def test_a_film_from_the_wish_to_the_release(deployment: Deployment) -> None:
    """One backend, nothing but GraphQL: submit, wait, look at costs, checks and runs, redo a shot, approve."""

    async def make() -> tuple[list[Status], Costs, tuple[Check, ...], tuple[Run, ...], str]:
        async with Backend(f"http://127.0.0.1:{deployment.web_port}") as backend:
            asked = await backend.submit(Film(idea="一只小猫在月球上种花"), user="eve", tier="PREMIUM")
            project = asked.project_id or ""
            ends = [await backend.wait(project, seconds=200)]
            await backend.redo(project, by="eve", stage="FRAMES", shots=[1], prompt="the cat wears a red hat")
            ends.append(await backend.wait(project, until={"PENDING_REVIEW"}, seconds=200))
            await backend.review(project, by="eve", decision="APPROVE")
            ends.append(await backend.wait(project, until={"APPROVED"}, seconds=60))
            with pytest.raises(Refused) as refused:
                await backend.cancel(project, by="eve")
            costs, checks, runs = await asyncio.gather(backend.costs(project), backend.checks(project), backend.runs(project))
            return ends, costs, checks, runs.items, refused.value.code

    ends, costs, checks, runs, code = asyncio.run(make())
    assert [end.status for end in ends] == ["PENDING_REVIEW", "PENDING_REVIEW", "APPROVED"]
    assert ends[0].film != ends[1].film
    assert {line.task_type for line in costs.lines} >= {"storyboard", "frame_image", "voice_line", "clip", "film_render"}
    assert {check.name for check in checks} >= {
        "storyboard_qc",
        "frame_images_qc",
        "voice_lines_qc",
        "clips_qc",
        "final_video_qc",
    }
    assert [run.job for run in runs].count("make_clips") == 2
    assert code == "CONFLICT"


def _sql(deployment: Deployment, statement: str) -> list[tuple[Any, ...]]:
    """One statement as a backend types it into the deployment's database."""
    with closing(sqlite3.connect(deployment.home / "comic.db", timeout=30)) as connection:
        rows = connection.execute(statement).fetchall()
        connection.commit()
        return rows
