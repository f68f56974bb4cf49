"""One row that nobody can handle: set aside with its own code, while the others go on in the same pass."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import text

from comic_pipeline import workflow
from comic_pipeline.model.errors import ErrorCode
from comic_pipeline.model.project import Tier
from comic_pipeline.model.stage import StageRow
from comic_pipeline.model.workflow import PRODUCTION, RunPhase, Stage, StageStatus, SubmissionKind
from comic_pipeline.store import projects, stages, submissions
from comic_pipeline.store.database import Connection
from comic_pipeline_tests.builders import a_project
from comic_pipeline_tests.contracts.service.door import CAT
from comic_pipeline_tests.contracts.workflow.world import World

STORYBOARD, FRAMES, VOICES, CLIPS, FILM = PRODUCTION
Unguarded = Callable[[str, str], None]


def change(world: World, statement: str, **values: object) -> None:
    """A hand at the database's console."""
    with world.database.write() as connection:
        connection.execute(text(statement), values)


def test_a_project_with_an_illegal_id_is_set_aside(world: World) -> None:
    """It can be no partition: it gets its code, and its neighbours their runs, in one pass."""
    for name in ("a1", "bad/id", "z9"):
        world.put(a_project(name, user_id=name), {})
    seen = world.tick()
    assert {launch.project_id for launch in seen.launches} == {"a1", "z9"}
    bad = world.project("bad/id")
    assert (bad.status, bad.error_code) == ("MANUAL_REQUIRED", ErrorCode.INPUT_INVALID)
    assert "must match" in (bad.error_message or "")
    assert len(seen.refused) == 1
    assert "bad/id" in seen.refused[0]
    assert world.tick().refused == ()


def test_a_round_of_a_project_with_an_illegal_id_is_set_aside(world: World) -> None:
    """It has a requested round already: that ends too, so that it is not met again at every launch."""
    world.put(a_project("bad/id", user_id="bad"), {STORYBOARD: StageStatus.REQUESTED})
    world.put(a_project("good"), {})
    assert {launch.project_id for launch in world.tick().launches} == {"good"}
    world.tick()
    assert world.project("bad/id").status == "MANUAL_REQUIRED"
    assert world.tick().refused == ()
    with world.database.read() as connection:
        rows = connection.execute(text("SELECT status FROM stages WHERE project_id = 'bad/id'")).scalars()
        assert list(rows) == ["failed"]


def test_an_unreadable_project_is_set_aside(world: World, unguarded: Unguarded) -> None:
    """Its tier means nothing to this code; the two others are launched."""
    for name in ("a1", "odd", "z9"):
        world.put(a_project(name, user_id=name), {})
    unguarded("projects", "legal_tier")
    change(world, "UPDATE projects SET tier = 'gold' WHERE id = 'odd'")
    seen = world.tick()
    assert {launch.project_id for launch in seen.launches} == {"a1", "z9"}
    with world.database.read() as connection:
        row = connection.execute(text("SELECT status, error_code, error_message FROM projects WHERE id = 'odd'")).one()
    assert (row.status, row.error_code) == ("MANUAL_REQUIRED", "UNKNOWN_ERROR")
    assert "gold" in row.error_message
    assert world.tick().refused == ()


@pytest.mark.parametrize(
    ("column", "constraint", "value"),
    [("stage", "legal_stage", "dance"), ("error_code", "legal_error_code", "OUCH")],
)
@pytest.mark.parametrize("status", [StageStatus.REQUESTED, StageStatus.RUNNING])
def test_an_unreadable_round_is_set_aside(  # one argument a column of the table
    world: World, unguarded: Unguarded, column: str, constraint: str, value: str, status: StageStatus
) -> None:
    """Open rounds with a word that no code knows: ended, their project handed to a person, the neighbour's run collected."""
    world.put(a_project("odd", user_id="odd"), {STORYBOARD: status})
    world.put_at(STORYBOARD, a_project("good"))
    odd = world.rounds("odd")[STORYBOARD].id
    world.runs.start("run-odd", stage_id=odd).phase = RunPhase.FAILED
    unguarded("stages", constraint)
    change(world, f"UPDATE stages SET {column} = :value WHERE id = :id", value=value, id=odd)  # noqa: S608  # a name of the table above
    world.succeed(STORYBOARD, "good")
    seen = world.tick()
    assert {(launch.project_id, launch.stage) for launch in seen.launches} == {("good", FRAMES), ("good", VOICES)}
    project = world.project("odd")
    assert (project.status, project.error_code) == ("MANUAL_REQUIRED", ErrorCode.UNKNOWN_ERROR)
    with world.database.read() as connection:
        assert connection.execute(text("SELECT status FROM stages WHERE id = :id"), {"id": odd}).scalar_one() == "failed"
    assert world.tick().refused == ()


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        ("{", ErrorCode.INPUT_INVALID),
        ("[" * 10_000, ErrorCode.INPUT_INVALID),
        ('{"idea": "x", "style": 7}', ErrorCode.INPUT_INVALID),
    ],
    ids=["not JSON", "nested", "wrong type"],
)
def test_a_bad_submission_between_two_good_ones_is_refused_alone(world: World, payload: str, code: ErrorCode) -> None:
    """The highest priority even: the others are admitted and launched in the same pass."""
    first = world.submit(SubmissionKind.PRODUCE, CAT, user="a")
    bad = world.submit(SubmissionKind.PRODUCE, payload, user="b", tier=Tier.PREMIUM)
    last = world.submit(SubmissionKind.PRODUCE, CAT, user="c")
    seen = world.tick()
    assert [world.row(number).status for number in (first, bad, last)] == ["accepted", "rejected", "accepted"]
    assert world.row(bad).error_code is code
    assert len(seen.launches) == 2
    assert seen.refused == ()


def test_an_unreadable_submission_is_refused_alone(world: World, unguarded: Unguarded) -> None:
    """Its kind is no word of ours: refused with the reason, once; the others are admitted."""
    first, last = world.submit(SubmissionKind.PRODUCE, CAT, user="a"), world.submit(SubmissionKind.PRODUCE, CAT, user="c")
    unguarded("submissions", "legal_kind")
    change(
        world,
        "INSERT INTO submissions (kind, user_id, project_id, tier, payload) VALUES ('destroy', 'b', 'p1', 'premium', '{}')",
    )
    seen = world.tick()
    assert [world.row(number).status for number in (first, last)] == ["accepted", "accepted"]
    assert len(seen.launches) == 2
    with world.database.read() as connection:
        row = connection.execute(text("SELECT status, error_code FROM submissions WHERE kind = 'destroy'")).one()
        assert submissions.open_ids(connection, limit=9) == []
    assert (row.status, row.error_code) == ("rejected", "UNKNOWN_ERROR")
    assert len(seen.refused) == 1


def test_a_row_that_cannot_even_be_set_aside_stops_nobody(world: World, unguarded: Unguarded) -> None:
    """The broken word came in before its constraint: every change of the row is refused. It is named at each pass."""
    for name in ("a1", "odd", "z9"):
        world.put(a_project(name, user_id=name), {})
    unguarded("projects", "legal_tier")
    change(world, "UPDATE projects SET tier = 'gold' WHERE id = 'odd'")
    with _frozen_rows(world):
        for launches in ({"a1", "z9"}, set()):
            seen = world.tick()
            assert {launch.project_id for launch in seen.launches} == launches
            assert len(seen.refused) == 1
            assert "odd" in seen.refused[0]


@contextmanager
def _frozen_rows(world: World) -> Iterator[None]:
    """Any change of a row whose tier is broken is refused as a constraint would refuse it."""
    if world.database.dialect == "sqlite":
        change(
            world,
            "CREATE TRIGGER frozen BEFORE UPDATE ON projects WHEN NEW.tier = 'gold' BEGIN SELECT RAISE(ABORT, 'legal_tier'); END",
        )
        undo = "DROP TRIGGER frozen"
    else:
        change(world, "ALTER TABLE projects ADD CONSTRAINT frozen CHECK (tier <> 'gold') NOT VALID")
        undo = "ALTER TABLE projects DROP CONSTRAINT frozen"
    try:
        yield
    finally:
        change(world, undo)


def test_a_run_by_hand_that_comes_first_is_not_held_against_the_project(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the look and the insert somebody materializes the storyboard: the index refuses ours, and the pass goes on."""
    world.put(a_project("p1"), {})
    world.put(a_project("p2", user_id="other"), {})
    requested = stages.request

    def too_late(connection: Connection, project_id: str, stage: Stage, **facts: Any) -> StageRow:
        if project_id == "p1" and "run_id" not in facts:
            requested(connection, project_id, stage, **{**facts, "stage_id": "by-hand", "run_id": "hand"})
        return requested(connection, project_id, stage, **facts)

    monkeypatch.setattr(stages, "request", too_late)
    seen = world.tick()
    assert [launch.project_id for launch in seen.launches] == ["p2"]
    assert (world.project("p1").status, world.project("p1").error_code, seen.refused) == ("IMAGE", None, ())
    monkeypatch.undo()
    assert {launch.project_id for launch in world.tick().launches} == {"p1"}


def test_a_full_line_of_waiting_requests_hides_nobody(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """More premium requests of one user than a pass admits wait in front of a free one: it is admitted all the same."""
    monkeypatch.setattr(workflow, "ADMIT_AT_MOST", 2)
    for number in range(5):
        world.submit(SubmissionKind.PRODUCE, {"idea": f"film {number}"}, tier=Tier.PREMIUM)
    free = world.submit(SubmissionKind.PRODUCE, CAT, user="free")
    for _ in range(3):
        world.tick()
    assert world.row(free).status == "accepted"
    with world.database.read() as connection:
        assert len(projects.in_production(connection)) == 2
