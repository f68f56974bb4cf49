"""What a killed process leaves behind."""

import subprocess
import sys

from comic_pipeline.model.ledger import Claimed
from comic_pipeline.model.task import AttemptState
from comic_pipeline.store import attempts, ledger
from comic_pipeline.store.database import Database
from comic_pipeline_tests.builders import a_frame, a_project, a_worker, begin_project, later


def test_a_process_killed_between_intent_and_answer_leaves_the_intent(database: Database, database_url: str) -> None:
    """SIGKILL after the gate, before the answer: the next worker finds the intent (outcome unknown), not a free task."""
    with database.write() as connection:
        begin_project(connection, a_project())
    child = subprocess.Popen(
        [sys.executable, "-m", "comic_pipeline_tests.contracts.store.crash", database_url], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "sent\n"
    child.kill()
    child.wait(timeout=10)
    child.stdout.close()
    with database.write() as connection:
        claim = ledger.claim(connection, a_frame(), a_worker("w2"), now=later(60))
        assert isinstance(claim, Claimed)
        assert claim.last is not None
        assert (claim.last.state, claim.last.cost) == (AttemptState.INTENT, None)
        assert [task.input_json for task in ledger.of_project(connection, "p1")] == [a_frame().input_json]
        booked = attempts.mark_unknown(connection, claim.last, now=later(61))
    assert booked.cost == claim.last.estimate
