"""What checks found: append-only, the latest holds."""

import json

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from comic_pipeline.model.verdict import Finding, Severity, Verdict
from comic_pipeline.store import projects, verdicts
from comic_pipeline.store.database import Database
from comic_pipeline_tests.builders import NOW, a_project


def a_verdict(check: str = "sizes", *, passed: bool = True, run: str = "r1", **facts: object) -> Verdict:
    """A verdict on the frames of p1."""
    usual = {
        "project_id": "p1",
        "asset": "frame_images",
        "check": check,
        "run_id": run,
        "data_version": "v1",
        "passed": passed,
        "severity": Severity.ERROR,
        "numbers": "{}",
        "at": NOW,
    }
    return Verdict.model_validate(usual | facts)


@pytest.fixture
def produced(database: Database) -> Database:
    """A database with project p1."""
    with database.write() as connection:
        projects.insert(connection, a_project())
    return database


def test_the_latest_verdict_of_a_check_holds(produced: Database) -> None:
    """An override is a later verdict; the same check of another asset is another check."""
    overridden = a_verdict(run="r2", override_by="op", override_reason="看过，可以")
    other = a_verdict(asset="clips", passed=False)
    with produced.write() as connection:
        for verdict in (a_verdict(passed=False), other, a_verdict("style"), overridden):
            verdicts.record(connection, verdict)
    with produced.read() as connection:
        assert verdicts.latest(connection, "p1") == [overridden, other, a_verdict("style")]
        assert verdicts.latest(connection, "p2") == []


def test_the_verdicts_of_a_run_are_its_own(produced: Database) -> None:
    """The reconciler asks for verdicts of *this* run: those of an earlier one do not let a later one pass."""
    with produced.write() as connection:
        for verdict in (a_verdict(run="r1"), a_verdict(run="r2", passed=False), a_verdict("style", run="r1", passed=False)):
            verdicts.record(connection, verdict)
        verdicts.record(connection, a_verdict("style", run="r1"))
        assert verdicts.of_run(connection, "p1", run_id="r1") == {
            ("frame_images", "sizes"): a_verdict(run="r1"),
            ("frame_images", "style"): a_verdict("style", run="r1"),
        }
        assert verdicts.of_run(connection, "p1", run_id="r9") == {}


def test_a_gate_is_open_for_one_version_of_one_project(produced: Database) -> None:
    """What was judged before, by another check or in another film, opens nothing; the latest word about a version holds."""
    with produced.write() as connection:
        projects.insert(connection, a_project("p2", user_id="user-2"))
        closed = a_verdict(passed=False)
        others = (a_verdict(data_version="v2"), a_verdict("style"), a_verdict(project_id="p2"))
        for verdict in (a_verdict(), closed, *others):
            verdicts.record(connection, verdict)
        assert verdicts.of_version(connection, "p1", check="sizes", data_version="v1") == closed
        assert verdicts.of_version(connection, "p1", check="sizes", data_version="v9") is None
        assert verdicts.latest(connection, "p2") == [others[-1]]
        assert list(verdicts.of_run(connection, "p2", run_id="r1").values()) == [others[-1]]


def test_the_view_shows_the_verdicts_in_force(produced: Database) -> None:
    """`qc_results` for the data team: the latest of each check, with who overrode it."""
    with produced.write() as connection:
        verdicts.record(connection, a_verdict(passed=False))
        verdicts.record(connection, a_verdict(override_by="op", override_reason="fine"))
        verdicts.record(connection, a_verdict("style", severity=Severity.WARN, passed=False))
        rows = connection.execute(
            text('SELECT "check", passed, severity, override_by FROM qc_results WHERE project_id = \'p1\' ORDER BY "check"')
        ).all()
    assert [(check, bool(passed), severity, by) for check, passed, severity, by in rows] == [
        ("sizes", True, "ERROR", "op"),
        ("style", False, "WARN", None),
    ]


def test_an_unknown_severity_is_refused(produced: Database) -> None:
    """A gate closes by severity, so it is a closed set."""
    with pytest.raises(IntegrityError), produced.write() as connection:
        connection.execute(
            text(
                'INSERT INTO verdicts (project_id, asset, "check", run_id, data_version, passed, severity, numbers, at)'
                " VALUES ('p1', 'a', 'c', 'r', 'v', true, 'MAYBE', '{}', '2026-01-01 00:00:00')"
            )
        )


def test_findings_are_read_back_from_a_stored_verdict(produced: Database) -> None:
    """Review page and manifest show what the check found, not only that it was closed."""
    found = Finding(rule="aspect_as_asked", severity=Severity.WARN, seq=2, measured="640x640", wanted="“16:9” <b>")
    numbers = json.dumps([found.model_dump(mode="json")], ensure_ascii=False)
    with produced.write() as connection:
        verdicts.record(connection, a_verdict(numbers=numbers))
    with produced.read() as connection:
        (stored,) = verdicts.latest(connection, "p1")
    assert stored.findings == (found,)
