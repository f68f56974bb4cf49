"""Limits over all processes: jobs under way, creates a second, one holder of a lease."""

import threading
from datetime import datetime, timedelta
from functools import partial

from sqlalchemy import func, select

from comic_pipeline.store import limits
from comic_pipeline.store.database import Database
from comic_pipeline.store.schema import provider_slots
from comic_pipeline_tests.builders import NOW, later
from comic_pipeline_tests.contracts.store.racing import raced


def _take(database: Database, holder: str, *, jobs: int = 2, at: datetime = NOW, provider: str = "ark") -> bool:
    with database.write() as connection:
        return limits.take_slot(connection, provider, jobs=jobs, holder=holder, now=at, seconds=60)


def test_there_are_as_many_slots_as_jobs(database: Database) -> None:
    """Two of two; the third waits until one is given back. Providers do not share."""
    assert [_take(database, holder) for holder in "abc"] == [True, True, False]
    assert _take(database, "c", provider="other")
    with database.write() as connection:
        limits.free_slot(connection, "ark", holder="a")
        limits.free_slot(connection, "ark", holder="nobody")
    assert [_take(database, holder) for holder in "cd"] == [True, False]


def test_taking_again_keeps_the_same_slot(database: Database) -> None:
    """A holder that asks twice has one slot, with its lease renewed."""
    assert _take(database, "a")
    assert _take(database, "a", at=later(50))
    assert _take(database, "b", at=later(50))
    assert not _take(database, "c", at=later(100))


def test_a_holder_that_asks_twice_at_once_has_one_slot(database: Database) -> None:
    """Otherwise its second slot would be renewed by nobody and given back by chance."""
    # On Postgres a racer may be told to wait although its holder has just got a slot: asked again, it keeps that one.
    assert any(raced([lambda: _take(database, "a")] * 4))
    assert _take(database, "a")
    assert _take(database, "b")
    assert not _take(database, "c")


def test_an_expired_slot_is_free_again(database: Database) -> None:
    """A killed process gives nothing back: its slot opens at the end of its lease, not before."""
    assert _take(database, "dead", jobs=1)
    assert not _take(database, "a", jobs=1, at=later(59.9))
    assert _take(database, "a", jobs=1, at=later(60))
    with database.write() as connection:
        assert not limits.renew_slot(connection, "ark", holder="dead", now=later(61), seconds=60)
        assert limits.renew_slot(connection, "ark", holder="a", now=later(61), seconds=60)


def test_a_lowered_limit_counts_what_is_still_running(database: Database) -> None:
    """From five jobs down to two while four run: nobody starts until fewer than two are left."""
    assert all(_take(database, holder, jobs=5) for holder in "abcd")
    for gone, may_start in (("a", False), ("b", False), ("c", True)):
        with database.write() as connection:
            limits.free_slot(connection, "ark", holder=gone)
        assert _take(database, "new", jobs=2) is may_start


def test_many_threads_never_hold_more_than_the_limit(database: Database) -> None:
    """Eight threads take and give back three slots as fast as they can: never four at once, and all get their share."""
    lock, held, peak = threading.Lock(), set[str](), 0

    def work(name: str) -> int:
        nonlocal peak
        done = 0
        while done < 4:
            if not _take(database, name, jobs=3):
                continue
            with lock:
                held.add(name)
                peak = max(peak, len(held))
            with database.read() as connection:
                taken = connection.execute(select(func.count()).select_from(provider_slots)).scalar_one()
                assert 1 <= taken <= 3
            with lock:
                held.remove(name)
            with database.write() as connection:
                limits.free_slot(connection, "ark", holder=name)
            done += 1
        return done

    outcomes = raced([partial(work, str(number)) for number in range(8)])
    assert outcomes == [4] * 8
    assert peak <= 3


def test_free_slots_are_found_although_others_take_theirs_meanwhile(database: Database) -> None:
    """Eight processes at once, eight slots: nobody is sent away only because a neighbour took the slot that it had seen free."""
    outcomes = raced([partial(_take, database, str(number), jobs=8) for number in range(8)])
    assert outcomes == [True] * 8


def _turn(database: Database, *, at: datetime = NOW) -> datetime:
    with database.write() as connection:
        return limits.take_turn(connection, "ark", step=0.2, now=at)


def _departure(database: Database, *, at: datetime = NOW, missed: datetime | None = None) -> datetime:
    with database.write() as connection:
        return limits.take_departure(connection, "ark", step=0.2, earliest=at, missed=missed)


def test_turns_lie_apart_by_the_step(database: Database) -> None:
    """A turn every 200 ms however fast they are asked for; after a pause the next is at once, without a burst."""
    assert [_turn(database) for _ in range(3)] == [NOW, later(0.2), later(0.4)]
    assert [_turn(database, at=later(100)) for _ in range(2)] == [later(100), later(100.2)]


def test_contending_threads_get_turns_exactly_apart(database: Database) -> None:
    """Eight threads, 32 turns, one moment: all different, exactly a step apart, none lost."""
    assert _moments(raced([lambda: [_turn(database) for _ in range(4)]] * 8)) == _every_step(32)


def test_departures_lie_apart_although_turns_were_late(database: Database) -> None:
    """What counts is when the last one left, not when it should have: 150 ms late, and the next leaves 150 ms later too."""
    assert [_turn(database), _turn(database)] == [NOW, later(0.2)]
    assert [_departure(database, at=later(0.15)), _departure(database, at=later(0.2))] == [later(0.15), later(0.35)]
    assert _departure(database, at=later(9)) == later(9)


def test_whoever_comes_after_a_late_departure_waits_in_line(database: Database) -> None:
    """Not at the last gate, where the promise to pay is written already."""
    _turn(database)
    _departure(database, at=later(0.15))
    assert _turn(database, at=later(0.16)) == later(0.35)


def test_a_missed_departure_costs_no_step(database: Database) -> None:
    """Nobody left at that moment, so the next need not be a step after it; unless others have built on it."""
    missed = _departure(database)
    again = _departure(database, at=later(0.05), missed=missed)
    assert again == later(0.05)
    assert _departure(database, at=later(0.06)) == later(0.25)
    assert _departure(database, at=later(0.07), missed=again) == later(0.45)


def test_a_clock_that_was_wrong_stops_nobody_for_long(database: Database) -> None:
    """A machine begins in 2038 until its time is set: its moments must not keep every create waiting until then.

    A long line is believed: two hundred that wait are more than there can be, and never less than ten minutes.
    """
    _departure(database, at=later(601))
    assert _turn(database) == NOW
    assert _departure(database) == NOW
    _turn(database, at=later(601))
    assert _departure(database, missed=later(601)) == NOW
    _departure(database, at=later(590))
    assert _turn(database) == later(590.2)
    assert _departure(database) == later(590.2)


def test_contending_threads_depart_exactly_apart(database: Database) -> None:
    """Eight threads over their own connections, 32 creates ready at one moment."""
    assert _moments(raced([lambda: [_departure(database) for _ in range(4)]] * 8)) == _every_step(32)


def _moments(outcomes: list[list[datetime] | Exception]) -> list[datetime]:
    return sorted(moment for some in outcomes if isinstance(some, list) for moment in some)


def _every_step(count: int) -> list[datetime]:
    return [NOW + number * timedelta(milliseconds=200) for number in range(count)]


def _lease(database: Database, holder: str, at: datetime = NOW) -> bool:
    with database.write() as connection:
        return limits.take_lease(connection, "pass", holder=holder, now=at, seconds=10)


def test_a_lease_has_one_holder_until_it_expires(database: Database) -> None:
    """The holder may renew, others wait; from expiry on another may take it, and the old holder has lost it."""
    assert _lease(database, "a")
    assert not _lease(database, "b", later(9.9))
    assert _lease(database, "a", later(5))
    assert not _lease(database, "b", later(14.9))
    assert _lease(database, "b", later(15))
    assert not _lease(database, "a", later(16))


def test_a_lease_given_back_is_free_at_once(database: Database) -> None:
    """Only its holder can give it back."""
    assert _lease(database, "a")
    for holder, free in (("b", False), ("a", True)):
        with database.write() as connection:
            limits.drop_lease(connection, "pass", holder=holder)
        assert _lease(database, "c", later(1)) is free


def test_of_many_takers_one_gets_the_lease(database: Database) -> None:
    """Free or expired: exactly one of those who ask at the same moment."""
    for at in (NOW, later(100)):
        names = [f"{at.second}-{number}" for number in range(4)]
        outcomes = raced([partial(_lease, database, name, at) for name in names])
        assert sorted(outcomes) == [False, False, False, True]


def test_what_a_dead_run_held_is_free_at_once(database: Database) -> None:
    """The project's lock of a killed run must not keep its next round waiting for the lease."""
    with database.write() as connection:
        assert limits.take_lease(connection, "project/p1/serial", holder="run-1", now=NOW, seconds=60)
        limits.renew_leases(connection, holder="run-1", now=later(30), seconds=60)
        assert not limits.take_lease(connection, "project/p1/serial", holder="run-2", now=later(80), seconds=60)
        limits.drop_leases(connection, holder="run-1")
        assert limits.take_lease(connection, "project/p1/serial", holder="run-2", now=later(80), seconds=60)


def test_a_beating_run_keeps_and_drops_only_what_it_holds(database: Database) -> None:
    """The lock of a run that died beside it runs out all the same; or its project would wait for ever."""
    with database.write() as connection:
        for run in ("dead", "alive"):
            assert limits.take_lease(connection, f"project/{run}/serial", holder=run, now=NOW, seconds=60)
        limits.renew_leases(connection, holder="alive", now=later(50), seconds=60)
        limits.drop_leases(connection, holder="somebody else")
        free = [
            limits.take_lease(connection, f"project/{run}/serial", holder="next", now=later(70), seconds=60)
            for run in ("dead", "alive")
        ]
    assert free == [True, False]


def test_providers_share_neither_pace_nor_slots(database: Database) -> None:
    """A line at one provider keeps nobody waiting at another, and a slot given back is given back where it was held."""
    with database.write() as connection:
        for provider in ("ark", "other"):
            assert limits.take_turn(connection, provider, step=0.2, now=NOW) == NOW
            assert limits.take_slot(connection, provider, jobs=1, holder="a", now=NOW, seconds=60)
        assert limits.take_turn(connection, "ark", step=0.2, now=NOW) == later(0.2)
        assert limits.take_turn(connection, "other", step=0.2, now=NOW) == later(0.2)
        limits.free_slot(connection, "ark", holder="a")
        free = [limits.take_slot(connection, name, jobs=1, holder="b", now=NOW, seconds=60) for name in ("ark", "other")]
    assert free == [True, False]


def test_a_holder_of_two_leases_gives_back_the_named_one(database: Database) -> None:
    """One lease is free and the other is not; what has run out under one name is not taken under another."""
    with database.write() as connection:
        for name in ("pass", "lock"):
            assert limits.take_lease(connection, name, holder="a", now=NOW, seconds=10)
        limits.drop_lease(connection, "pass", holder="a")
        assert not limits.take_lease(connection, "lock", holder="b", now=later(5), seconds=100)
        assert limits.take_lease(connection, "pass", holder="b", now=later(20), seconds=100)
        assert limits.take_lease(connection, "lock", holder="c", now=later(20), seconds=100)
