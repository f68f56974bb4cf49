"""Limits that hold over all processes and machines: jobs under way, creates a second, one holder of a named lease.

Each function is one short transaction's worth of work; waiting is the caller's.
"""

from datetime import datetime, timedelta

from sqlalchemy import Connection, delete, select, update
from sqlalchemy.exc import IntegrityError

from comic_pipeline.store.schema import leases, provider_pace, provider_slots


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


def take_turn(connection: Connection, provider: str, *, qps: float, now: datetime) -> datetime:
    """Reserve the next create and return the moment at which it may be sent: turns lie 1/qps apart, never in a burst."""
    step = timedelta(seconds=1.0 / qps)
    while True:
        next_at: datetime | None = connection.execute(
            select(provider_pace.c.next_at).where(provider_pace.c.provider_id == provider)
        ).scalar_one_or_none()
        if next_at is None:
            if _insert(connection, provider_pace.insert().values(provider_id=provider, next_at=now + step)):
                return now
            continue
        turn: datetime = max(next_at, now)
        done = connection.execute(
            update(provider_pace)
            .where(provider_pace.c.provider_id == provider, provider_pace.c.next_at == next_at)
            .values(next_at=turn + step)
        )
        if done.rowcount == 1:
            return turn


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
