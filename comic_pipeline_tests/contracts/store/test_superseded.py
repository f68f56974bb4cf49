"""What the ledger still needs of the object store, and how it lets go of the rest; `contracts/cleaning` has the clean-up."""

from comic_pipeline.model.errors import ErrorCode
from comic_pipeline.model.ledger import NewTask
from comic_pipeline.model.media import MediaRef
from comic_pipeline.model.review import Decision, Review
from comic_pipeline.model.task import TaskStatus
from comic_pipeline.store import ledger, reviews, superseded
from comic_pipeline.store.database import Connection, Database
from comic_pipeline_tests.builders import NOW, a_frame, a_picture, a_project, a_worker, begin_project, later
from comic_pipeline_tests.contracts.store.acts import claimed


def _made(connection: Connection, wish: NewTask, *, at: float) -> MediaRef:
    """A finished task whose output is named after its project and its words."""
    task = claimed(connection, wish, a_worker(), at=later(at))
    output = a_picture(f"{wish.project_id}-{at:g}")
    ledger.succeed(connection, task.task_id, output, now=later(at))
    return output


def _films(connection: Connection) -> None:
    for name in ("p1", "p2"):
        begin_project(connection, a_project(name, user_id=name))


def test_the_newest_finished_picture_of_each_shot_is_in_use(database: Database) -> None:
    """Also when a newer wish failed, and when another film's picture of the same shot is newer still."""
    with database.write() as connection:
        _films(connection)
        _made(connection, a_frame(words="old"), at=1)
        kept = {_made(connection, a_frame(words="new"), at=2).key, _made(connection, a_frame(seq=1), at=1).key}
        failed = claimed(connection, a_frame(words="newest"), a_worker(), at=later(3))
        ledger.end(connection, failed.task_id, status=TaskStatus.FAILED, code=ErrorCode.UNKNOWN_ERROR, message="", now=later(3))
        other = _made(connection, a_frame("p2"), at=9)
        assert superseded.outputs_in_use(connection, "p1") == kept
        assert superseded.outputs_in_use(connection, "p2") == {other.key}


def test_a_task_is_retired_once_and_in_its_project(database: Database) -> None:
    """A clean-up that is done again after a crash finds nothing left to retire; the other film's picture is still free."""
    with database.write() as connection:
        _films(connection)
        old, _ = _made(connection, a_frame(), at=1), _made(connection, a_frame("p2"), at=1)
        assert [superseded.retire(connection, "p1", [old.key]) for _ in range(2)] == [1, 0]
        assert superseded.retire(connection, "p2", [old.key]) == 0
        (retired,), (kept,) = (ledger.of_project(connection, name) for name in ("p1", "p2"))
    assert (retired.input_hash == a_frame().input_hash, kept.input_hash == a_frame("p2").input_hash) == (False, True)


def test_reviews_are_those_of_one_film(database: Database) -> None:
    """An approval of another project releases nothing, and its film is not the one that was judged."""
    with database.write() as connection:
        _films(connection)
        for name, decision in (("p1", Decision.REJECT), ("p2", Decision.APPROVE)):
            said = Review(
                project_id=name,
                decision=decision,
                by="op",
                note="",
                film_sha256=name[-1] * 64,
                redo_stage=None,
                redo_shots=(),
                at=NOW,
            )
            reviews.record(connection, said)
        assert [one.decision for one in reviews.of_project(connection, "p1")] == [Decision.REJECT]
        assert superseded.reviewed_films(connection, "p1") == {"1" * 64}
