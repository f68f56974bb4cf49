"""Rows that somebody inserted into `submissions` past every door of ours: any text in any column."""

import pytest
from sqlalchemy import text

from comic_pipeline.model.errors import ErrorCode
from comic_pipeline.model.workflow import SubmissionStatus
from comic_pipeline.store import projects
from comic_pipeline_tests.contracts.service.door import Door

_INSERT = text(
    "INSERT INTO submissions (kind, project_id, user_id, payload) VALUES (:kind, :project, :user, :payload) RETURNING id"
)
_CAT = '{"idea": "a cat"}'


def _insert(door: Door, *, kind: str = "produce", project: str | None = None, user: str = "u1", payload: str = _CAT) -> int:
    with door.database.write() as connection:
        values = {"kind": kind, "project": project, "user": user, "payload": payload}
        return int(connection.execute(_INSERT, values).scalar_one())


@pytest.mark.parametrize("user", ["\x1b[2J", "u\r\nX-Evil: 1", "u\u202e", "\t"])
def test_a_user_id_that_commands_a_terminal_is_refused(door: Door, user: str) -> None:
    """It would stand in lists, logs and run tags; the door refuses the same words of everybody else."""
    decided = door.decide(_insert(door, user=user))
    assert (decided.status, decided.error_code) == (SubmissionStatus.REJECTED, ErrorCode.INPUT_INVALID)


@pytest.mark.parametrize("kind", ["produce", "retry", "redo", "cancel", "review"])
def test_a_project_id_that_is_a_path_or_a_command_is_refused(door: Door, kind: str) -> None:
    """It would become a partition key, a folder of the store and a run tag."""
    for project in ("../../etc", "a/b", "'; DROP TABLE projects; --", "$(id)", "p 1", "..", "{{7*7}}"):
        decided = door.decide(_insert(door, kind=kind, project=project))
        assert (decided.status, decided.error_code) == (SubmissionStatus.REJECTED, ErrorCode.INPUT_INVALID)
    with door.database.read() as connection:
        assert projects.find(connection) == []


@pytest.mark.parametrize(
    "payload",
    [
        '{"idea": ' + "[" * 90_000 + "]" * 90_000 + "}",
        '{"idea": "a cat", "x": ' + '{"a":' * 900 + "1" + "}" * 900 + "}",
        '{"idea": "a cat", "seed": ' + "9" * 190_000 + "}",
        '{"idea": 1e999999}',
        '{"idea": "\\ud800"}',
        '{"idea": "a\\u0000b"}',
        '{"idea": "' + "x" * 190_000 + '"}',
        '{"idea": "a cat", "' + "k" * 190_000 + '": 1}',
        "!!python/object/apply:os.system [id]",
        "&a [*a]",
    ],
    ids=[
        "deep",
        "deep extra",
        "long number",
        "endless number",
        "half a character",
        "nul",
        "long",
        "long key",
        "yaml",
        "yaml loop",
    ],
)
def test_a_payload_bomb_is_refused_in_its_row(door: Door, payload: str) -> None:
    """Answered with a short reason, in the row; the pass goes on to the next one."""
    decided = door.decide(_insert(door, payload=payload))
    assert (decided.status, decided.error_code) == (SubmissionStatus.REJECTED, ErrorCode.INPUT_INVALID)
    assert len(decided.error_message or "") < 1_000


def test_every_depth_of_nesting_is_answered(door: Door) -> None:
    """Just below the parser's limit, naming the value must not run into that of the language."""
    for depth in range(850, 1_010, 10):
        payload = '{"idea": ' + "[" * depth + "]" * depth + "}"
        assert door.decide(_insert(door, payload=payload)).status is SubmissionStatus.REJECTED
