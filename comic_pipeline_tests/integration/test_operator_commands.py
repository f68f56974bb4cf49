"""The operator's commands over a prepared home, through the program's own `main`: answers, refusals, exit codes, tables.

Belongs here: what a command prints and leaves. Does not: settings and homes (`test_command_line.py`), what the door decides
(`contracts/service`).
"""

import io
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from comic_pipeline.cli import main
from comic_pipeline.model.review import Decision
from comic_pipeline.model.submission import Submission
from comic_pipeline.model.verdict import Finding, Severity, Verdict
from comic_pipeline.model.workflow import PRODUCTION, ProjectState, Stage, StageStatus, SubmissionKind
from comic_pipeline.stages.workshop import Workshop
from comic_pipeline.store import ledger, projects, reviews, submissions, verdicts
from comic_pipeline.store.schema import tasks as task_table
from comic_pipeline_tests.builders import NOW, a_project
from comic_pipeline_tests.contracts.service.databases import empty
from comic_pipeline_tests.contracts.service.door import Door
from comic_pipeline_tests.homes import opened_home

MADE = dict.fromkeys(PRODUCTION, StageStatus.PASSED)
_FINDING = Finding(rule="not_black", severity=Severity.ERROR, seq=1, measured="1200 ms", wanted="at most 500 ms")
_OVERRIDE = ("qc", "override", "p1", "clips_qc", "--by", "ann", "--reason", "meant to be dark")


@dataclass
class Terminal:
    """Where an operator types; `door` looks at the tables behind it."""

    door: Door
    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]

    def __call__(self, *words: str) -> tuple[int, str, str]:
        """Run `comic` with these words: its exit code, and what it printed to both."""
        self.monkeypatch.setattr(sys, "argv", ["comic", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        code = ended.value.code
        assert isinstance(code, int)
        return code, *self.capsys.readouterr()

    def answered(self, *words: str) -> Any:
        """The JSON of a command that must succeed."""
        code, out, err = self(*words, "--json")
        assert (code, err) == (0, "")
        return json.loads(out)

    def refused(self, *words: str) -> str:
        """Why a command was refused, on one line, with the Chinese and English words below it; nothing on standard output."""
        code, out, err = self(*words)
        assert (code, out) == (2, "")
        reason, words_of_code = err.splitlines()
        assert " / " in words_of_code
        return reason


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    """A prepared home."""
    with opened_home(tmp_path_factory.mktemp("operator") / "home") as opened:
        yield opened


@pytest.fixture
def comic(workshop: Workshop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Terminal]:
    """The program in that home, whose tables are empty."""
    monkeypatch.setenv("COMIC_HOME", str(workshop.settings.home))
    monkeypatch.setenv("COLUMNS", "80")
    yield Terminal(door=Door(workshop.database), monkeypatch=monkeypatch, capsys=capsys)
    empty(workshop.database)


def closed_at_clips(comic: Terminal) -> None:
    """A project that its clips' gate has stopped."""
    comic.door.put(
        a_project(status=ProjectState.MANUAL_REQUIRED, fail_stage="clips"), MADE | {Stage.CLIPS: StageStatus.MANUAL_REQUIRED}
    )
    for check, findings in (("frame_images_qc", []), ("clips_qc", [_FINDING.model_dump(mode="json")])):
        verdict = Verdict(
            project_id="p1",
            asset=check.removesuffix("_qc"),
            check=check,
            run_id="run-1",
            data_version="v1",
            passed=not findings,
            severity=Severity.ERROR,
            numbers=json.dumps(findings),
            at=NOW,
        )
        with comic.door.database.write() as connection:
            verdicts.record(connection, verdict)


def test_qc_lists_each_check_with_what_it_found(comic: Terminal) -> None:
    """For people a table with rule, shot and numbers; for programs the same as JSON."""
    closed_at_clips(comic)
    code, out, _ = comic("qc", "p1")
    assert code == 0
    assert [row.split()[:3] for row in out.splitlines()[1:3]] == [
        ["frame_images", "frame_images_qc", "passed"],
        ["clips", "clips_qc", "closed"],
    ]
    assert "not_black" in out
    assert "1200 ms" in out
    told = {verdict["check"]: verdict for verdict in comic.answered("qc", "p1")}
    assert (told["clips_qc"]["passed"], told["clips_qc"]["findings"]) == (False, [_FINDING.model_dump(mode="json")])
    assert (told["frame_images_qc"]["passed"], told["frame_images_qc"]["findings"]) == (True, [])


def test_an_opened_gate_is_signed_and_work_goes_on(comic: Terminal) -> None:
    """The verdict in force names who and why; the stage has its next round; a second time there is nothing to open."""
    closed_at_clips(comic)
    assert comic.answered(*_OVERRIDE)["message_zh"] == "已放行该质检项"
    assert comic.door.project().status == ProjectState.QUEUED
    assert comic.door.rounds()[Stage.CLIPS].round == 2
    code, out, _ = comic("qc", "p1")
    assert code == 0
    assert "ann: meant to be dark" in out
    assert "clips_qc of project p1 is open; there is nothing to override" in comic.refused(*_OVERRIDE)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("qc", "p2"), "project 'p2' does not exist; `comic projects` lists them"),
        (("qc", "p1", "clips_qc"), "write `comic qc PROJECT` or `comic qc override PROJECT CHECK`"),
        (("qc", "override", "p1"), "write `comic qc override PROJECT CHECK --by NAME --reason R`"),
        (("qc", "override", "p1", "clips_qc", "--reason", "r"), "--by is needed: the decision is recorded"),
        (("qc", "override", "p1", "clips_qc", "--by", "ann", "--reason", " "), "--reason is needed"),
        (("qc", "override", "p1", "clips_qc", "--by", "an\x1bn", "--reason", "r"), "by has the control character U+001B"),
        (("qc", "override", "p1", "clip_qc", "--by", "ann", "--reason", "r"), "those that did: frame_images_qc, clips_qc"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_half_an_override_opens_nothing(comic: Terminal, words: tuple[str, ...], said: str) -> None:
    """Each refusal names what is missing or wrong and the way out."""
    closed_at_clips(comic)
    assert said in comic.refused(*words)
    assert comic.door.project().status == ProjectState.MANUAL_REQUIRED


def test_a_review_is_recorded_once(comic: Terminal) -> None:
    """An approval asks for the release; the same again is answered the same, and is one row."""
    comic.door.put(a_project(status=ProjectState.PENDING_REVIEW), MADE)
    code, out, _ = comic("review", "p1", "approve", "--by", "ann", "--note", "lovely")
    assert (code, out) == (0, "p1: APPROVED 已通过审核，正在发布 approved; the release follows\n")
    assert comic.answered("review", "p1", "Approve", "--by", "ann")["reused"] is True
    with comic.door.database.read() as connection:
        (row,) = reviews.of_project(connection, "p1")
    assert (row.decision, row.by, row.note) == (Decision.APPROVE, "ann", "lovely")
    assert comic.door.rounds()[Stage.RELEASE].status is StageStatus.REQUESTED


def test_a_rejection_with_shots_has_them_made_anew(comic: Terminal) -> None:
    """`--redo-shots` and `--stage` become the shots' new take."""
    comic.door.put(a_project(status=ProjectState.PENDING_REVIEW), MADE)
    told = comic.answered("review", "p1", "reject", "--by", "ann", "--stage", "frames", "--redo-shots", "0")
    assert (told["status"], told["message_zh"]) == ("QUEUED", "未通过审核，正在重新制作")
    assert comic.door.overrides() == {(0, "take_frames"): "1"}


REVIEW, REDO = ("review", "p1"), ("redo", "p1", "--stage")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*REVIEW, "maybe", "--by", "ann"), "decision 'maybe' is unknown; one of: approve, reject"),
        ((*REVIEW, "approve", "--by", " "), "--by is needed: the decision is recorded"),
        ((*REVIEW, "approve", "--by", "ann", "--stage", "frames"), "INPUT_INVALID stage: only a rejection asks for something"),
        ((*REVIEW, "reject", "--by", "ann", "--redo-shots", "0"), "INPUT_INVALID shots: name the stage that is to be made anew"),
        ((*REVIEW, "reject", "--by", "ann", "--stage", "frames", "--redo-shots", ""), "--redo-shots '': write shot numbers"),
        ((*REVIEW, "reject", "--by", "ann", "--stage", "frames", "--redo-shots", "7"), "shots [7] do not exist in project p1"),
        ((*REVIEW, "reject", "--by", "ann", "--stage", "release"), "stage 'release' cannot be made anew; one of: frames"),
        ((*REDO, "storyboard"), "stage 'storyboard' cannot be made anew; one of: frames, voices, clips, film"),
        ((*REDO, "frames", "--shots", ""), "--shots '': write shot numbers from 0"),
        ((*REDO, "frames", "--shots", ","), "leave it out for all shots"),
        ((*REDO, "frames", "--shots", "0,,1"), "--shots '0,,1': write shot numbers"),
        ((*REDO, "frames", "--shots", "-1"), "--shots '-1': write shot numbers"),
        ((*REDO, "frames", "--shots", "1_0"), "--shots '1_0': write shot numbers"),
        ((*REDO, "frames", "--seed", "-1"), "seed: Input should be greater than or equal to 0 (got '-1')"),
        ((*REDO, "film", "--shots", "0"), "INPUT_INVALID shots: the film is rendered whole; leave shots out"),
        (("cancel", "p1", "--reason", "x\x07"), "reason has the control character U+0007"),
        (("retry", "p1"), "retry is not possible: project p1 is PENDING_REVIEW; it must be one of CANCELLED, FAILED"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_wish_that_cannot_be_meant_costs_nothing(comic: Terminal, words: tuple[str, ...], said: str) -> None:
    """`--shots "$UNSET"` once had every shot made anew, and paid."""
    comic.door.put(a_project(status=ProjectState.PENDING_REVIEW), MADE)
    assert said in comic.refused(*words)
    assert (comic.door.project().status, comic.door.overrides()) == (ProjectState.PENDING_REVIEW, {})


def test_what_became_of_a_request_can_be_seen(comic: Terminal) -> None:
    """A rejected submission makes no project: nothing showed it, and `comic submit` promised a project all the same."""
    for number in range(4):
        words = ("submit", f"a fox {number}", "--user", "bob", "--key", f"k{number}")
        code, out, _ = comic(*words)
        assert (code, out) == (0, f"submission {number + 1} is new; `comic submissions --user bob` says what becomes of it\n")
        comic.door.decide(number + 1)
    why = f"user bob has used 3 of 3 free films of {NOW:%Y-%m-%d} (Asia/Shanghai)"
    (rejected,) = comic.answered("submissions", "--user", "bob", "--status", "rejected")
    assert (rejected["id"], rejected["error_code"], rejected["error_message"]) == (4, "QUOTA_NOT_ENOUGH", why)
    assert f"QUOTA_NOT_ENOUGH: {why}" in comic("submissions")[1].splitlines()[1]
    assert comic.answered("submissions", "--user", "alice") == []
    # The same request again is answered, not only counted.
    assert comic.refused("submit", "a fox 3", "--user", "bob", "--key", "k3") == f"QUOTA_NOT_ENOUGH {why}"
    code, out, _ = comic("submit", "a fox 3", "--user", "bob", "--key", "k3", "--json")
    assert (code, json.loads(out)["error_code"]) == (2, "QUOTA_NOT_ENOUGH")
    project_id = comic.door.row(3).project_id
    assert f"is accepted; `comic status {project_id}` follows" in comic("submit", "a fox 2", "--user", "bob", "--key", "k2")[1]
    assert "status 'lost' is unknown; one of: new, waiting, accepted, rejected" in comic.refused(
        "submissions", "--status", "lost"
    )


@pytest.mark.parametrize("command", ["projects", "submissions"])
def test_a_list_that_is_cut_says_so(comic: Terminal, command: str) -> None:
    """The newest 500 looked like all there are: a program that counted films counted too few."""
    for name in ("p1", "p2"):
        comic.door.put(a_project(name, idea=name, status=ProjectState.REJECTED), MADE)
        comic.door.submit(SubmissionKind.RETRY, project=name)
    code, out, err = comic(command, "--limit", "1", "--json")
    assert (code, len(json.loads(out))) == (0, 1)
    assert err.startswith("the newest 1; --limit shows more / 仅显示最新 1 条")
    code, out, err = comic(command, "--limit", "2", "--json")
    assert (code, len(json.loads(out)), err) == (0, 2, "")


def test_the_words_of_rows_move_no_cursor(comic: Terminal) -> None:
    """A backend's own INSERT holds any user id; the table of requests shows letters."""
    comic.door.submit(SubmissionKind.RETRY, user="eve", project="p-1")
    with comic.door.database.write() as connection:
        connection.exec_driver_sql("UPDATE submissions SET user_id = '[/]' || char(27) || '[2J'")
    code, out, _ = comic("submissions")
    assert code == 0
    assert "[/]\ufffd[2J" in out


# The keys that backends were promised; more may come beside them.
STATUS_KEYS = {
    *("project_id", "status", "stage", "fail_stage", "progress", "frames_ready", "total_frames", "eta_seconds", "cost"),
    *("error_code", "error_message", "film", "tasks"),
}


def test_the_status_has_the_keys_that_were_promised(comic: Terminal) -> None:
    """Programs read them by name; a task's are the ledger's own columns, so that a look into the table says the same."""
    comic.door.put(a_project(status=ProjectState.PENDING_REVIEW), MADE)
    told = comic.answered("status", "p1")
    assert told.keys() >= STATUS_KEYS
    assert (told["project_id"], told["status"], told["progress"], told["cost"]) == ("p1", "PENDING_REVIEW", 100, "0.000000")
    # What was delivered is an object here, and its JSON text in the table.
    columns = {column.name for column in task_table.columns} - {"output_json"} | {"output"}
    assert all(task.keys() == columns for task in told["tasks"])


def test_a_task_to_be_decided_is_json_for_programs_too(comic: Terminal) -> None:
    """Without a decision `resolve` shows the case and asks for one: with --json it printed the table of people all the same."""
    comic.door.put(a_project(status=ProjectState.MANUAL_REQUIRED), MADE)
    with comic.door.database.read() as connection:
        task = ledger.of_project(connection, "p1")[0]
    code, out, err = comic("task", "resolve", task.task_id, "--json")
    assert (code, json.loads(err)["error_code"]) == (2, "INPUT_INVALID")
    assert json.loads(out)["task"]["task_id"] == task.task_id


def test_watching_tells_each_change_once(comic: Terminal) -> None:
    """A whole page a second is no way to follow a film: one line a change, the page at the end."""
    comic.door.put(a_project(status=ProjectState.COMPOSE), MADE)
    looks = iter(range(5))

    def wait(_seconds: float) -> None:
        if next(looks) == 3:
            with comic.door.database.write() as connection:
                done, here = ProjectState.PENDING_REVIEW, (ProjectState.COMPOSE,)
                assert projects.move(connection, "p1", old=here, new=done, now=NOW, finished_at=NOW)

    comic.monkeypatch.setattr("comic_pipeline.cli.projects.time.sleep", wait)
    code, out, _ = comic("status", "p1", "--watch")
    assert code == 0
    assert [line.split()[1] for line in out.splitlines() if "COMPOSE" in line] == ["COMPOSE"]
    assert sum("PENDING_REVIEW" in line for line in out.splitlines()) == 1


def _requests(comic: Terminal) -> list[Submission]:
    with comic.door.database.read() as connection:
        return submissions.find(connection)


def test_a_script_comes_from_a_file_or_standard_input(comic: Terminal, tmp_path: Path) -> None:
    """A whole script is no argument: editors save it, with a mark at its head on some systems, or a program pipes it."""
    scene = "第一场 夜 邮局\n狐狸：今晚的信会发光。\n"
    file = tmp_path / "剧本.txt"
    file.write_text(scene, encoding="utf-8-sig")
    comic.answered("submit", "--user", "ann", "--script", str(file))
    comic.monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(scene.encode())))
    comic.answered("submit", "--user", "ann", "--script", "-")
    asked = [json.loads(one.payload) for one in _requests(comic)]
    assert [one["script"].strip() for one in asked] == [scene.strip()] * 2


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read: No such file or directory"),
        ("狐狸：你好".encode("gb18030"), "is not UTF-8 text (byte 0); save it as UTF-8"),
        (b" \n", "is empty"),
        (("狐" * 20_001).encode(), "20001"),
    ],
)
def test_a_script_that_cannot_be_meant_is_refused(comic: Terminal, tmp_path: Path, content: bytes | None, said: str) -> None:
    """By the file's name and the way out; no submission is written."""
    file = tmp_path / "script.txt"
    if content is not None:
        file.write_bytes(content)
    assert said in comic.refused("submit", "--user", "ann", "--script", str(file))
    assert _requests(comic) == []


def test_neither_idea_nor_script_is_refused(comic: Terminal) -> None:
    """The argument is optional beside `--script` only."""
    assert "idea" in comic.refused("submit", "--user", "ann")


def test_a_program_reads_refusals_as_json(comic: Terminal) -> None:
    """With --json a refusal is an object too: its code decides, not its words."""
    code, out, err = comic("status", "nobody", "--json")
    told = json.loads(err)
    assert (code, out) == (2, "")
    assert (told["error_code"], told["retryable"]) == ("NOT_FOUND", False)
    assert "nobody" in told["detail"]
    assert told["zh"]
    assert told["en"]
