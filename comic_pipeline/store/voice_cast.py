"""Who speaks with which voice, remembered for a project, so that a redo or a new speaker never changes anybody's voice.

Append-only: the latest row of a speaker holds, the older ones are history.
"""

from collections.abc import Callable, Mapping
from datetime import datetime

from sqlalchemy import Connection, select

from comic_pipeline.store.schema import voice_cast


def load(connection: Connection, project_id: str, provider_id: str) -> dict[str, str]:
    """Voice by speaker at this provider; the narrator is the empty name."""
    statement = (
        select(voice_cast.c.speaker, voice_cast.c.voice)
        .where(voice_cast.c.project_id == project_id, voice_cast.c.provider_id == provider_id)
        .order_by(voice_cast.c.id)
    )
    return {row.speaker: row.voice for row in connection.execute(statement)}


def settle(
    connection: Connection,
    project_id: str,
    provider_id: str,
    choose: Callable[[Mapping[str, str]], dict[str, str]],
    *,
    now: datetime,
) -> dict[str, str]:
    """What `choose` makes of the voices remembered so far; from now on that is remembered."""
    kept = load(connection, project_id, provider_id)
    chosen = choose(kept)
    rows = [
        {"project_id": project_id, "provider_id": provider_id, "speaker": speaker, "voice": voice, "at": now}
        for speaker, voice in chosen.items()
        if kept.get(speaker) != voice
    ]
    if rows:
        connection.execute(voice_cast.insert(), rows)
    return chosen
