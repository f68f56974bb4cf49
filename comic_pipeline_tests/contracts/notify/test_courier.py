"""Sending: at least once, in order, with patience; a receiver that fails, hangs or sends away harms nobody."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from comic_pipeline.model.notice import NoticeStatus
from comic_pipeline.model.workflow import ACTIVE_PROJECT_STATES, ProjectState
from comic_pipeline.notify.courier import Courier, Delivered
from comic_pipeline.notify.target import Target
from comic_pipeline.settings import WebhookStyle
from comic_pipeline.store import notifications, projects
from comic_pipeline.store.database import Database
from comic_pipeline_tests.builders import a_project
from comic_pipeline_tests.contracts.notify.receiver import SECRET, Answer, Receiver, receiving, until


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A server that takes everything until it is told otherwise."""
    with receiving() as server:
        yield server


class _Clock:
    """The machine's time, moved on by hand."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=self.ahead)


def _courier(
    database: Database, receiver: Receiver, *, tries: int = 8, clock: _Clock | None = None, call_seconds: float = 0.4
) -> Courier:
    target = Target(url=receiver.url, secret=SECRET, style=WebhookStyle.JSON, language="zh")
    return Courier(database, target, tries=tries, now=clock or _Clock(), call_seconds=call_seconds)


def _fail(database: Database, project_id: str, times: int = 1) -> None:
    """Let a project fail `times` times."""
    with database.write() as connection:
        projects.insert(connection, a_project(project_id, user_id=project_id))
        for _ in range(times):
            now = datetime.now(UTC)
            projects.move(connection, project_id, old=ACTIVE_PROJECT_STATES, new=ProjectState.FAILED, now=now)
            projects.move(connection, project_id, old=[ProjectState.FAILED], new=ProjectState.QUEUED, now=now)


def test_everything_due_arrives_once_signed_and_in_order(database: Database, receiver: Receiver) -> None:
    """Three films, each with three notices; the receiver can check every one, and idling asks it nothing."""
    for name in ("a", "b", "c"):
        _fail(database, name, 3)
    courier = _courier(database, receiver)
    assert courier.deliver(seconds=10) == Delivered(sent=9)
    assert courier.deliver(seconds=10) == Delivered()
    assert receiver.forged == 0
    assert len(set(receiver.ids())) == len(receiver.got) == 9
    for name in ("a", "b", "c"):
        mine = [body["created_at"] for _, body in receiver.got if body["project"]["id"] == name]
        assert mine == sorted(mine)


def test_a_failing_receiver_gets_it_later_and_one_film_waits_for_no_other(database: Database, receiver: Receiver) -> None:
    """500, then 429 with Retry-After, then yes: three tries under one event id, and the film's second notice only after it."""
    clock = _Clock()
    courier = _courier(database, receiver, clock=clock)
    _fail(database, "a", 2)
    receiver.answers = [Answer(500), Answer(429, {"Retry-After": "77"})]
    done = courier.deliver(seconds=5)
    assert (done.sent, done.postponed) == (0, 1)
    assert "HTTP 500" in done.faults[0]
    assert courier.deliver(seconds=5) == Delivered()
    clock.ahead = 6
    assert courier.deliver(seconds=5).postponed == 1
    clock.ahead = 6 + 76
    assert courier.deliver(seconds=5) == Delivered()
    clock.ahead = 6 + 78
    _fail(database, "b")
    assert courier.deliver(seconds=5).sent == 3
    ids = [event_id for event_id, body in receiver.got if body["project"]["id"] == "a"]
    assert ids[0] == ids[1] == ids[2] != ids[3]


def test_after_the_last_try_it_is_dead_and_seen(database: Database, receiver: Receiver) -> None:
    """A receiver that says 404 for ever: given up by number, kept with its reason, never sent again."""
    clock = _Clock()
    courier = _courier(database, receiver, tries=2, clock=clock)
    _fail(database, "a")
    receiver.answers = [Answer(404)] * 5
    assert courier.deliver(seconds=5).postponed == 1
    clock.ahead = 4_000
    assert courier.deliver(seconds=5).dead == 1
    clock.ahead = 400_000
    assert courier.deliver(seconds=5) == Delivered()
    assert len(receiver.got) == 2
    with database.read() as connection:
        (dead,) = notifications.find(connection, status=NoticeStatus.DEAD)
    assert (dead.tries, dead.last_error) == (2, "HTTP 404")


def test_old_news_is_not_told(database: Database, receiver: Receiver) -> None:
    """An address that is set for the first time does not get last month's films; what is new goes on at once."""
    _fail(database, "a", 2)
    clock = _Clock()
    clock.ahead = 86_500
    done = _courier(database, receiver, clock=clock).deliver(seconds=5)
    assert (done.dead, done.sent, receiver.got) == (2, 0, [])


def test_films_are_told_of_side_by_side(database: Database, receiver: Receiver) -> None:
    """Eight films at a slow receiver cost one call's time: it answers when all eight are there."""
    for number in range(8):
        _fail(database, f"p{number}")
    receiver.meeting = threading.Barrier(8, timeout=10)
    assert _courier(database, receiver, call_seconds=20).deliver(seconds=5).sent == 8


def test_a_hanging_receiver_is_given_up(database: Database, receiver: Receiver) -> None:
    """A receiver that takes the request and never answers holds nobody: each notice waits for its next time."""
    for number in range(2):
        _fail(database, f"p{number}")
    receiver.answers = [Answer(hang=30)] * 2
    done = _courier(database, receiver).deliver(seconds=5)
    assert done.postponed == 2
    assert all("no answer within" in fault for fault in done.faults)


def test_a_redirect_is_not_followed(database: Database, receiver: Receiver) -> None:
    """A receiver cannot send us to an address of its choice, inside the house or out."""
    _fail(database, "a")
    with receiving() as elsewhere:
        receiver.answers = [Answer(307, {"Location": elsewhere.url})]
        done = _courier(database, receiver).deliver(seconds=5)
        assert elsewhere.got == []
    assert done.postponed == 1
    assert "HTTP 307" in done.faults[0]


def test_a_receiver_that_is_not_there_is_said_without_its_address(database: Database, receiver: Receiver) -> None:
    """The address may hold a token: neither the fault nor the row repeats it."""
    _fail(database, "a")
    gone = Receiver(url="http://127.0.0.1:1/token-4711")
    done = _courier(database, gone).deliver(seconds=5)
    with database.read() as connection:
        (notice,) = notifications.find(connection)
    assert done.postponed == 1
    assert "ConnectError" in (notice.last_error or "")
    assert "4711" not in str(done) + str(notice)


def test_a_sender_killed_in_the_middle_is_succeeded_under_the_same_event_id(
    database: Database, database_url: str, receiver: Receiver
) -> None:
    """SIGKILL while the receiver has the notice and has not answered: it comes again, and the receiver can tell."""
    _fail(database, "a")
    receiver.answers = [Answer(hang=30)]
    child = subprocess.Popen([sys.executable, "-m", "comic_pipeline_tests.contracts.notify.sender", database_url, receiver.url])
    until(receiver.arrived.is_set)
    child.kill()
    child.wait(timeout=10)
    clock = _Clock()
    courier = _courier(database, receiver, clock=clock)
    assert courier.deliver(seconds=5) == Delivered()
    clock.ahead = 120
    assert courier.deliver(seconds=5) == Delivered(sent=1)
    assert len(receiver.got) == 2
    assert len(set(receiver.ids())) == 1
    assert receiver.forged == 0


def test_an_environment_without_a_way_out_is_told_and_costs_no_notice(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A SOCKS proxy in the environment crashed every tick; now the tick says why, and all is sent once that is mended."""
    _fail(database, "a")
    monkeypatch.setenv("ALL_PROXY", "socks5://me:hunter2@127.0.0.1:7890")
    target = Target(url="https://hook.invalid/x", secret=SECRET, style=WebhookStyle.JSON, language="zh")
    done = Courier(database, target, tries=8, now=_Clock()).deliver(seconds=1)
    (fault,) = done.faults
    assert (done.sent, done.postponed, done.dead) == (0, 0, 0)
    assert "ALL_PROXY" in fault
    assert "hunter2" not in fault
    with database.read() as connection:
        assert notifications.count(connection, NoticeStatus.NEW) == 1
