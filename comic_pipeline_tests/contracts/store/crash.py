"""A process that passes the gate for one create and is then killed: `python -m … URL` says `sent` and waits for its SIGKILL."""

import signal
import sys

from comic_pipeline.store.database import Database
from comic_pipeline_tests.builders import a_frame, a_worker
from comic_pipeline_tests.contracts.store.acts import begin, claimed


def main(url: str) -> None:
    """Claim, begin, say so, and hang as a create does whose answer never comes."""
    database = Database(url)
    with database.write() as connection:
        task = claimed(connection, a_frame(), a_worker())
    with database.write() as connection:
        begin(connection, task)
    with database.write() as connection:
        # Uncommitted work of the same process must be gone after the kill, and must block nobody.
        claimed(connection, a_frame(words="half done"), a_worker())
        sys.stdout.write("sent\n")
        sys.stdout.flush()
        signal.pause()


if __name__ == "__main__":
    main(sys.argv[1])
