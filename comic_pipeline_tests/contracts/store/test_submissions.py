"""Requests from outside: stored once, answered once, in order."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, IntegrityError

from comic_pipeline.model.errors import ErrorCode
from comic_pipeline.model.project import Tier
from comic_pipeline.model.submission import Answer
from comic_pipeline.model.workflow import SubmissionKind, SubmissionStatus
from comic_pipeline.store import submissions
from comic_pipeline.store.database import Database
from comic_pipeline.store.submissions import NewSubmission
from comic_pipeline_tests.builders import NOW, later
from comic_pipeline_tests.contracts.store.racing import race, raced


def a_wish(user: str = "user-1", **facts: Any) -> NewSubmission:
    """A request for a film."""
    return replace(NewSubmission(SubmissionKind.PRODUCE, user_id=user, tier=Tier.FREE, payload='{"idea":"猫"}'), **facts)


def test_the_same_key_finds_the_first_request(database: Database) -> None:
    """A client that repeats a call after a lost answer gets the first request, not a second film."""
    with database.write() as connection:
        first, made = submissions.insert(connection, a_wish(key="k"), now=NOW)
    with database.write() as connection:
        again, made_again = submissions.insert(connection, a_wish(key="k", payload="{}"), now=later(9))
    assert (made, made_again) == (True, False)
    assert again == first


def test_keys_belong_to_their_user_and_requests_without_key_are_never_the_same(database: Database) -> None:
    """Two users may use the same key; two requests without a key are two requests."""
    with database.write() as connection:
        made = [
            submissions.insert(connection, wish, now=NOW)[0].id
            for wish in (a_wish(key="k"), a_wish("user-2", key="k"), a_wish(), a_wish())
        ]
    assert len(set(made)) == 4


def test_the_same_key_from_many_threads_makes_one_request(database: Database) -> None:
    """Eight clients with one key at once: one row, and all get its id."""

    def send() -> tuple[int, bool]:
        with database.write() as connection:
            submission, made = submissions.insert(connection, a_wish(key="k"), now=NOW)
            return submission.id, made

    outcomes = raced([send] * 8)
    assert len({number for number, _ in outcomes}) == 1
    assert sum(made for _, made in outcomes) == 1


def test_the_loser_of_a_race_can_go_on_with_its_transaction(database: Database) -> None:
    """On Postgres a broken rule spoils the transaction unless a savepoint holds it: both racers must be able to write on."""

    def send_two() -> int:
        with database.write() as connection:
            submissions.insert(connection, a_wish(key="k"), now=NOW)
            return submissions.insert(connection, a_wish(), now=NOW)[0].id

    outcomes = race([send_two] * 2)
    assert all(isinstance(outcome, int) for outcome in outcomes), outcomes
    with database.read() as connection:
        assert len(submissions.open_ids(connection, limit=10)) == 3


def test_open_requests_come_by_priority_then_age(database: Database) -> None:
    """Premium before paid before preview before free, the older first among equals; decided ones are gone, the limit holds."""
    with database.write() as connection:
        ids = {}
        for name, tier in [("free", Tier.FREE), ("paid", Tier.PAID), ("premium", Tier.PREMIUM), ("paid2", Tier.PAID)]:
            ids[name] = submissions.insert(connection, a_wish(name, tier=tier), now=NOW)[0].id
        gone = submissions.insert(connection, a_wish("gone", tier=Tier.PREMIUM), now=NOW)[0].id
        submissions.reject(connection, gone, code=ErrorCode.INPUT_INVALID, message="no", now=NOW)
        submissions.wait(connection, ids["paid"], message="another film is under way")
        expected = [ids[name] for name in ("premium", "paid", "paid2", "free")]
        assert submissions.open_ids(connection, limit=10) == expected
        assert submissions.open_ids(connection, limit=2) == expected[:2]


def test_a_backend_may_insert_a_row_with_the_mandatory_columns_only(database: Database) -> None:
    """A row by raw SQL of (kind, user_id, payload) reads like any other, and takes the priority of its tier."""
    with database.write() as connection:
        submissions.insert(connection, a_wish(), now=NOW)
        connection.execute(
            text("INSERT INTO submissions (kind, user_id, tier, payload) VALUES ('produce', 'u', 'paid', '{\"idea\":\"x\"}')")
        )
        connection.execute(text("INSERT INTO submissions (kind, user_id) VALUES ('produce', 'u')"))
        ids = submissions.open_ids(connection, limit=10)
        paid = submissions.get(connection, ids[0])
        bare = submissions.get(connection, ids[2])
    assert paid is not None
    assert (paid.tier, paid.status, paid.priority, paid.payload) == (Tier.PAID, SubmissionStatus.NEW, None, '{"idea":"x"}')
    assert paid.created_at.utcoffset() == timedelta(0)
    assert bare is not None
    assert (bare.tier, bare.payload, bare.answer) == (Tier.FREE, "{}", None)


@pytest.mark.parametrize(
    "values",
    [
        "('destroy', 'u', NULL, 'free', '{}', 'new')",
        "('produce', 'u', NULL, 'gold', '{}', 'new')",
        "('produce', 'u', NULL, 'free', '{}', 'done')",
        "('produce', '', NULL, 'free', '{}', 'new')",
        "('produce', NULL, NULL, 'free', '{}', 'new')",
        "('retry', 'u', NULL, 'free', '{}', 'new')",
        "(NULL, 'u', NULL, 'free', '{}', 'new')",
    ],
    ids=["kind", "tier", "status", "no user", "null user", "retry of nothing", "null kind"],
)
def test_nonsense_rows_are_refused(database: Database, values: str) -> None:
    """A backend's own INSERT cannot put in what the reconciler would have to puzzle over."""
    statement = "INSERT INTO submissions (kind, user_id, project_id, tier, payload, status) VALUES "
    with pytest.raises(IntegrityError), database.write() as connection:
        connection.execute(text(statement + values))


@pytest.mark.parametrize(("column", "size"), [("payload", 200_001), ("user_id", 129)])
def test_oversized_values_are_refused(database: Database, column: str, size: int) -> None:
    """A payload or a name beyond its limit never reaches a row; one at the limit does."""

    def insert(length: int) -> None:
        row = {"kind": "produce", "user_id": "u", "payload": "{}"} | {column: "x" * length}
        with database.write() as connection:
            connection.execute(
                text("INSERT INTO submissions (kind, user_id, payload) VALUES (:kind, :user_id, :payload)"),
                row,
            )

    insert(size - 1)
    with pytest.raises(Exception) as refused:  # noqa: PT011  # Postgres reports the column's own length as a fault of data
        insert(size)
    assert isinstance(refused.value, IntegrityError) or isinstance(refused.value.__cause__, DBAPIError)


def test_a_request_is_decided_once(database: Database) -> None:
    """Accepting and rejecting exclude each other, whoever comes second gets False and changes nothing."""
    answer = Answer(project_id="p1", status="QUEUED")
    with database.write() as connection:
        number = submissions.insert(connection, a_wish(), now=NOW)[0].id
        assert submissions.wait(connection, number, message="wait")
        assert not submissions.wait(connection, number, message="wait again")
        assert submissions.accept(connection, number, answer, now=later(5))
        assert not submissions.accept(connection, number, answer, now=later(6))
        assert not submissions.reject(connection, number, code=ErrorCode.CONFLICT, message="late", now=later(6))
        assert not submissions.wait(connection, number, message="late")
        stored = submissions.get(connection, number)
    assert stored is not None
    assert (stored.status, stored.project_id, stored.decided_at) == (SubmissionStatus.ACCEPTED, "p1", later(5))
    assert (stored.error_code, stored.error_message) == (None, None)
    assert Answer.model_validate_json(stored.answer or "") == answer


def test_what_is_decided_about_one_request_is_said_of_no_other(database: Database) -> None:
    """Waiting, accepted and refused ones beside each other; found newest first, by user and by state."""
    with database.write() as connection:
        waits, taken, refused, fresh = (
            submissions.insert(connection, a_wish(user), now=NOW)[0].id for user in ("a", "b", "a", "b")
        )
        assert submissions.wait(connection, waits, message="wait")
        assert submissions.accept(connection, taken, Answer(project_id="p1", status="QUEUED"), now=NOW)
        assert submissions.reject(connection, refused, code=ErrorCode.INPUT_INVALID, message="no", now=NOW)
        found = submissions.find(connection)
        assert [(one.id, one.status) for one in found] == [
            (fresh, SubmissionStatus.NEW),
            (refused, SubmissionStatus.REJECTED),
            (taken, SubmissionStatus.ACCEPTED),
            (waits, SubmissionStatus.WAITING),
        ]
        assert submissions.find(connection, limit=2) == found[:2]
        assert [one.id for one in submissions.find(connection, user_id="a")] == [refused, waits]
        assert [one.id for one in submissions.find(connection, user_id="b", status=SubmissionStatus.NEW)] == [fresh]


def test_two_reconcilers_decide_a_request_once(database: Database) -> None:
    """Of an acceptance and a refusal at the same moment exactly one holds."""
    with database.write() as connection:
        number = submissions.insert(connection, a_wish(), now=NOW)[0].id

    def accept() -> bool:
        with database.write() as connection:
            return submissions.accept(connection, number, Answer(project_id="p1", status="QUEUED"), now=NOW)

    def reject() -> bool:
        with database.write() as connection:
            return submissions.reject(connection, number, code=ErrorCode.QUOTA_NOT_ENOUGH, message="no", now=NOW)

    assert sorted(raced([accept, reject])) == [False, True]


def test_the_quota_counts_new_films_of_one_user_and_day(database: Database) -> None:
    """Counted: accepted requests that made a new project in [since, until). Not: reused, refused, other kinds, users, tiers."""
    fresh = Answer(project_id="p", status="QUEUED")
    cases = [
        (a_wish(), fresh, NOW),
        (a_wish(), fresh, later(-1)),
        (a_wish(), fresh, later(60)),
        (a_wish(), fresh.model_copy(update={"reused": True}), NOW),
        (a_wish("user-2"), fresh, NOW),
        (a_wish(tier=Tier.PREVIEW), fresh, NOW),
        (a_wish(kind=SubmissionKind.RETRY, project_id="p"), fresh, NOW),
    ]
    with database.write() as connection:
        for wish, answer, at in cases:
            submissions.accept(connection, submissions.insert(connection, wish, now=NOW)[0].id, answer, now=at)
        refused = submissions.insert(connection, a_wish(), now=NOW)[0].id
        submissions.reject(connection, refused, code=ErrorCode.QUOTA_NOT_ENOUGH, message="no", now=NOW)
        assert submissions.count_produced(connection, "user-1", tier=Tier.FREE, since=NOW, until=later(60)) == 1


def test_words_in_an_answer_are_not_taken_for_its_reused_mark(database: Database) -> None:
    """The quota looks for the mark in JSON text: a message that quotes it must not make a film free."""
    tricky = Answer(project_id="p", status="QUEUED", message_en='says "reused":true')
    with database.write() as connection:
        submissions.accept(connection, submissions.insert(connection, a_wish(), now=NOW)[0].id, tricky, now=NOW)
        assert submissions.count_produced(connection, "user-1", tier=Tier.FREE, since=NOW, until=later(60)) == 1
