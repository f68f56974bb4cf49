"""What is wrong with this deployment, and the way out: one line for each part, each tried for real.

Belongs here: trying. Does not: Dagster (`defs/heartbeats.py`), printing (`cli/doctor.py`). Nothing here costs money.
"""

import asyncio
import secrets
import time
import wave
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from io import BytesIO
from typing import TypeVar

from comic_pipeline.media.ffmpeg import ffmpeg_path, run_ffmpeg
from comic_pipeline.media.fonts import missing_glyphs
from comic_pipeline.model.errors import ComicError
from comic_pipeline.model.notice import NoticeStatus
from comic_pipeline.notify.space import read_space
from comic_pipeline.notify.target import target_of
from comic_pipeline.objects.build import open_objects
from comic_pipeline.providers.keys import KeyAnswer, ask_services
from comic_pipeline.providers.offline.voice import Utterance, speak
from comic_pipeline.settings import NO_MUSIC, SYNTH_MUSIC, Settings, VoiceProviderName, misspelled
from comic_pipeline.stages.music import read_music
from comic_pipeline.store import alerts, notifications
from comic_pipeline.store.database import Database
from comic_pipeline.store.migrate import check_version

T = TypeVar("T")

_SAMPLE = "漫剧：一只小猫在月球上种花。"
# Signed requests of S3 and of the webhook are refused from five minutes on; leases and deadlines suffer earlier.
_CLOCK_WARN, _CLOCK_FAIL = 5.0, 60.0
_SPACE_WARN, _SPACE_FAIL = 90.0, 98.0


class State(StrEnum):
    """How a part is. `unchecked`: nobody can tell without paying, or what it needs is broken already."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"
    UNCHECKED = "unchecked"


@dataclass(frozen=True)
class Line:
    """One part: what was found, and what to do about it (empty when there is nothing to do)."""

    part: str
    state: State
    found: str
    way_out: str = ""


def examine(settings: Settings) -> list[Line]:
    """All parts but Dagster's daemon, each tried once; about two seconds."""
    answers = _run(lambda: ask_services(settings))
    lines = [*_keys(settings, answers)]
    for part, try_it in _PARTS.items():
        try:
            lines += try_it(settings)
        except ComicError as fault:
            lines.append(Line(part, State.FAIL, fault.detail, _WAYS_OUT[part]))
    try:
        lines.append(_clock(settings, answers))
    except ComicError:
        lines.append(Line("clock", State.UNCHECKED, "not checked: the database does not answer"))
    return lines


def _keys(settings: Settings, answers: Iterable[KeyAnswer]) -> Iterator[Line]:
    for variable in settings.missing_keys():
        yield Line("keys", State.FAIL, f"{variable} is empty, and a chosen provider needs it", f"set {variable}")
    for answer in answers:
        state = {True: State.OK, False: State.FAIL, None: State.UNCHECKED}[answer.good]
        way_out = "renew the key, or check the *_BASE_URL, the network and the proxy" if state is State.FAIL else ""
        yield Line(f"key of {answer.service}", state, answer.detail, way_out)
    for name, meant in misspelled().items():
        yield Line("settings", State.WARN, f"{name} is no setting: nothing reads it", f"did you mean {meant}?")
    if settings.hash_salt.get_secret_value() == "comic":
        yield Line("settings", State.WARN, "COMIC_HASH_SALT has its default", "set a salt of your own before real users come")


def _database(settings: Settings) -> list[Line]:
    with closing(Database(settings.effective_database_url)) as database:
        began = time.monotonic()
        check_version(database)
        took = (time.monotonic() - began) * 1_000
        with database.read() as connection:
            dead = notifications.count(connection, NoticeStatus.DEAD)
            newest = notifications.find(connection, status=NoticeStatus.DEAD, limit=1)
            raised = [alert for alert in alerts.open_alerts(connection) if alert.raised_at is not None]
    lines = [Line("database", State.OK, f"{database.dialect}, the right version, {took:.0f} ms")]
    lines += [Line("alert", State.WARN, alert.message_en, "see README, Notices and alerts") for alert in raised]
    for notice in newest:
        why = f"{dead} were never taken by the receiver; the last one: {notice.last_error}"
        lines.append(Line("notices", State.WARN, why, "SELECT * FROM notifications WHERE status = 'dead'"))
    return lines


def _objects(settings: Settings) -> list[Line]:
    store, key, data = open_objects(settings), f"doctor/{secrets.token_hex(8)}.txt", secrets.token_bytes(1_024)
    began = time.monotonic()
    store.put(key, data, mime="text/plain")
    try:
        same = store.get(key) == data
    finally:
        store.delete(key)
    took = (time.monotonic() - began) * 1_000
    if not same:
        return [Line("object store", State.FAIL, "it gave back other bytes than were stored", _WAYS_OUT["object store"])]
    return [Line("object store", State.OK, f"written, read and deleted in {took:.0f} ms: {settings.effective_objects}")]


def _ffmpeg(settings: Settings) -> list[Line]:
    path = ffmpeg_path(settings.ffmpeg)
    picture, sound = ("-f", "lavfi", "-i", "color=s=64x64:d=0.2"), ("-f", "lavfi", "-i", "sine=d=0.2")
    codecs = ("-c:v", "libx264", "-c:a", "aac", "-f", "null", "-")
    _run(lambda: run_ffmpeg((*picture, *sound, *codecs), ffmpeg=path, timeout=30))
    return [Line("ffmpeg", State.OK, f"encodes H.264 and AAC: {path}")]


def _font(settings: Settings) -> list[Line]:  # noqa: ARG001  # a part's signature
    missing = missing_glyphs(_SAMPLE)
    if missing:
        return [Line("font", State.FAIL, f"it lacks {' '.join(sorted(missing))}", _WAYS_OUT["font"])]
    return [Line("font", State.OK, "has the Chinese characters of subtitles and covers")]


def _voice(settings: Settings) -> list[Line]:
    if settings.voice_provider is not VoiceProviderName.OFFLINE:
        return [Line("voice", State.UNCHECKED, f"not checked: {settings.voice_provider} is paid by the character")]
    wav = _run(lambda: speak(Utterance(text="你好", voice="cmn", pitch=50, rate=190), timeout=30))
    with wave.open(BytesIO(wav)) as sound:
        seconds = sound.getnframes() / sound.getframerate()
    if seconds < 0.1:
        return [Line("voice", State.FAIL, "the offline voice is silent", _WAYS_OUT["voice"])]
    return [Line("voice", State.OK, f"the offline voice said 你好 in {seconds:.1f} s")]


def _music(settings: Settings) -> list[Line]:
    if settings.music in (SYNTH_MUSIC, NO_MUSIC):
        return [Line("music", State.OK, f"{settings.music}")]
    read_music(settings.music, open_objects(settings))
    return [Line("music", State.OK, f"can be heard: {settings.music}")]


def _space(settings: Settings) -> list[Line]:
    lines = []
    for reading in read_space(settings, None):
        state = State.OK if reading.value < _SPACE_WARN else State.WARN if reading.value < _SPACE_FAIL else State.FAIL
        way_out = "" if state is State.OK else "enlarge it, or set COMIC_CLEANUP=delete"
        lines.append(Line("space", state, f"{reading.value:.0f}% of the disk of {reading.subject} is used", way_out))
    return lines


def _webhook(settings: Settings) -> list[Line]:
    target = target_of(settings)
    if target is None:
        return [Line("webhook", State.UNCHECKED, "COMIC_WEBHOOK_URL is not set: nobody is told anything")]
    if not target.secret:
        return [Line("webhook", State.WARN, f"notices go out unsigned ({target.style})", "set COMIC_WEBHOOK_SECRET")]
    return [Line("webhook", State.OK, f"signed notices ({target.style})")]


def _clock(settings: Settings, answers: Iterable[KeyAnswer]) -> Line:
    ahead = {answer.service: answer.clock_ahead for answer in answers if answer.clock_ahead is not None}
    with closing(Database(settings.effective_database_url)) as database:
        theirs = database.server_time()
    if theirs is not None:
        ahead["the database"] = (theirs - datetime.now(UTC)).total_seconds()
    if not ahead:
        return Line("clock", State.UNCHECKED, "not checked: nobody else's clock is in reach")
    whose = max(ahead, key=lambda name: abs(ahead[name]))
    off = abs(ahead[whose])
    state = State.OK if off < _CLOCK_WARN else State.WARN if off < _CLOCK_FAIL else State.FAIL
    found = f"{off:.0f} s from that of {whose}"
    return Line("clock", state, found, "" if state is State.OK else "let this machine keep time by NTP")


_PARTS: dict[str, Callable[[Settings], list[Line]]] = {
    "database": _database,
    "object store": _objects,
    "ffmpeg": _ffmpeg,
    "font": _font,
    "voice": _voice,
    "music": _music,
    "space": _space,
    "webhook": _webhook,
}
_WAYS_OUT = {
    "database": "check COMIC_DATABASE_URL and that its server is up; `comic init` prepares a new or an older one",
    "object store": "check COMIC_OBJECTS, its rights and the AWS_* variables",
    "ffmpeg": "set COMIC_FFMPEG to an ffmpeg with libx264, or leave it empty for the bundled one",
    "font": "install the locked requirements again: the font comes with pylopdf-fonts-zh-cn",
    "voice": "install the locked requirements again: the voice comes with espeakng-loader",
    "music": "set COMIC_MUSIC to a file or an object that is music; films would stop once everything else is paid",
    "space": "enlarge the disk",
    "webhook": "correct the address",
}


def _run(make: Callable[[], Awaitable[T]]) -> T:
    async def wait() -> T:
        return await make()

    with asyncio.Runner() as runner:
        return runner.run(wait())
