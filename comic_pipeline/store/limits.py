"""Limits that hold over all processes and machines: jobs under way, creates a second, one holder of a named lease.

Each function is one short transaction's worth of work; waiting is the caller's.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, and_, delete, select, update
from sqlalchemy.exc import IntegrityError

from comic_pipeline.store.schema import leases, provider_pace, provider_slots

# More creates than can wait at once: eight stage runs (dagster.yaml) of twelve shots, and as many again.
_LONGEST_LINE = 200


def take_slot(connection: Connection, provider: str, *, jobs: int, holder: str, now: datetime, seconds: float) -> bool:
    """Take one of `jobs` slots for `seconds`, or keep the one that `holder` has. False when all are taken.

    The slot number is part of the primary key, so two processes cannot take the same one.
    """
    if renew_slot(connection, provider, holder=holder, now=now, seconds=seconds):
        return True
    connection.execute(
        delete(provider_slots).where(provider_slots.c.provider_id == provider, provider_slots.c.lease_expires_at <= now)
    )
    taken = set(connection.execute(select(provider_slots.c.slot).where(provider_slots.c.provider_id == provider)).scalars())
    if len(taken) >= jobs:
        # Also when the limit was lowered and slots above it are still held.
        return False
    row = {"provider_id": provider, "holder": holder, "lease_expires_at": now + timedelta(seconds=seconds)}
    free = (slot for slot in range(1, jobs + 1) if slot not in taken)
    return any(_insert(connection, provider_slots.insert().values(**row, slot=slot)) for slot in free)


def renew_slot(connection: Connection, provider: str, *, holder: str, now: datetime, seconds: float) -> bool:
    """Keep the holder's slot for `seconds` more. False when it has none."""
    done = connection.execute(
        update(provider_slots)
        .where(provider_slots.c.provider_id == provider, provider_slots.c.holder == holder)
        .values(lease_expires_at=now + timedelta(seconds=seconds))
    )
    return done.rowcount == 1


def free_slot(connection: Connection, provider: str, *, holder: str) -> None:
    """Give the holder's slot back."""
    connection.execute(delete(provider_slots).where(provider_slots.c.provider_id == provider, provider_slots.c.holder == holder))


@dataclass(frozen=True)
class Pace:
    """A provider's row: when the next turn is, and when the last create leaves or has left."""

    next_at: datetime
    sent_at: datetime | None


def take_turn(connection: Connection, provider: str, *, step: float, now: datetime) -> datetime:
    """Reserve a place in line and return its moment: turns lie `step` seconds apart, never in a burst.

    A turn orders those who wait; that its owner is on time is not said. See `take_departure`.
    """
    apart = timedelta(seconds=step)

    def turn(found: Pace | None) -> tuple[datetime, Pace]:
        pace = _believable(found, step=step, now=now)
        moment = now if pace is None else max(pace.next_at, now)
        return moment, Pace(next_at=moment + apart, sent_at=None if pace is None else pace.sent_at)

    return _take_moment(connection, provider, turn)


def take_departure(
    connection: Connection, provider: str, *, step: float, earliest: datetime, missed: datetime | None = None
) -> datetime:
    """Fix the moment at which a create leaves: not before `earliest`, and `step` seconds after the last one's, whoever sent it.

    `missed` is a moment that the caller was given before and could not keep; unless others have built on it, it costs no step.
    """
    apart = timedelta(seconds=step)

    def departure(found: Pace | None) -> tuple[datetime, Pace]:
        pace = _believable(found, step=step, now=earliest)
        last = None if pace is None else pace.sent_at
        moment = earliest if last is None or last == missed else max(last + apart, earliest)
        # Whoever asks for a turn from now on waits in line, and not with a promise to pay at the last gate.
        next_at = moment + apart if pace is None else max(pace.next_at, moment + apart)
        return moment, Pace(next_at=next_at, sent_at=moment)

    return _take_moment(connection, provider, departure)


def _believable(pace: Pace | None, *, step: float, now: datetime) -> Pace | None:
    """The pace, unless a clock that was wrong wrote it: a line that long would keep every create waiting until then."""
    longest = timedelta(seconds=max(_LONGEST_LINE * step, 600.0))
    return None if pace is None or pace.next_at > now + longest else pace


def _take_moment(connection: Connection, provider: str, decide: Callable[[Pace | None], tuple[datetime, Pace]]) -> datetime:
    """Let `decide` give a moment and the row after it; again when another process changed the row meanwhile."""
    table = provider_pace.c
    while True:
        found = connection.execute(select(table.next_at, table.sent_at).where(table.provider_id == provider)).one_or_none()
        pace = None if found is None else Pace(next_at=found.next_at, sent_at=found.sent_at)
        moment, after = decide(pace)
        row = {"next_at": after.next_at, "sent_at": after.sent_at}
        if pace is None:
            if _insert(connection, provider_pace.insert().values(provider_id=provider, **row)):
                return moment
            continue
        unchanged = and_(table.next_at == pace.next_at, table.sent_at.is_not_distinct_from(pace.sent_at))
        if connection.execute(update(provider_pace).where(table.provider_id == provider, unchanged).values(row)).rowcount == 1:
            return moment


def take_lease(connection: Connection, name: str, *, holder: str, now: datetime, seconds: float) -> bool:
    """Become or stay the one holder of `name` for `seconds`. False while another's lease is live."""
    until = now + timedelta(seconds=seconds)
    done = connection.execute(
        update(leases)
        .where(leases.c.name == name, (leases.c.holder == holder) | (leases.c.expires_at <= now))
        .values(holder=holder, expires_at=until)
    )
    return done.rowcount == 1 or _insert(connection, leases.insert().values(name=name, holder=holder, expires_at=until))


def renew_leases(connection: Connection, *, holder: str, now: datetime, seconds: float) -> None:
    """Keep whatever `holder` holds for `seconds` more."""
    connection.execute(update(leases).where(leases.c.holder == holder).values(expires_at=now + timedelta(seconds=seconds)))


def drop_leases(connection: Connection, *, holder: str) -> None:
    """A holder has surely ended: nobody need wait for its leases."""
    connection.execute(delete(leases).where(leases.c.holder == holder))


def drop_lease(connection: Connection, name: str, *, holder: str) -> None:
    """Give a lease back."""
    connection.execute(delete(leases).where(leases.c.name == name, leases.c.holder == holder))


def _insert(connection: Connection, statement: object) -> bool:
    try:
        with connection.begin_nested():
            connection.execute(statement)  # type: ignore[call-overload]  # an Insert; its type is generic in the row
    except IntegrityError:
        return False
    return True
