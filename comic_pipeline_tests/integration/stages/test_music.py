"""The music bed as a task of the ledger: played once, kept, free; or the operator's own file; or none."""

import asyncio
import io
import json
import math
import subprocess
import sys
import wave
from array import array
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from comic_pipeline.media.probe import measure_audio
from comic_pipeline.model.errors import ComicError, ErrorCode
from comic_pipeline.model.media import Music
from comic_pipeline.model.storyboard import OverrideField, Shot, Storyboard
from comic_pipeline.model.task import Task, TaskType
from comic_pipeline.model.workflow import Stage
from comic_pipeline.providers.offline.music import OfflineMusic
from comic_pipeline.providers.offline.music_child import play, to_wav
from comic_pipeline.providers.offline.music_moods import MOODS
from comic_pipeline.providers.offline.music_score import compose
from comic_pipeline.settings import load_settings
from comic_pipeline.stages.music import order_of, play_music
from comic_pipeline.stages.studio import Studio
from comic_pipeline.stages.workshop import Workshop, open_workshop
from comic_pipeline.store import ledger, overrides
from comic_pipeline.store.migrate import migrate
from comic_pipeline_tests.builders import NOW, a_project, a_worker, begin_project

STORYBOARD = Storyboard(
    title="moon", shots=tuple(Shot(seq=seq, scene_desc="s", image_prompt="p", duration_ms=2_000) for seq in range(3))
)
Open = Callable[..., Studio]


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Open]:
    """`studio(music)`: project p1 of a style, in its film stage, under a COMIC_MUSIC; the same project each time."""
    opened: list[Workshop] = []

    def _studio(music: str) -> Studio:
        settings = load_settings(COMIC_HOME=str(tmp_path / "home"), COMIC_MUSIC=music)
        settings.home.mkdir(exist_ok=True)
        if not opened:
            migrate(settings.effective_database_url)
        workshop = open_workshop(settings)
        project = a_project(style="comedy")
        if not opened:
            with workshop.database.write() as connection:
                begin_project(connection, project, stage=Stage.FILM)
        opened.append(workshop)
        return workshop.studio(project, a_worker(stage_id="stage-p1"), workshop.build_providers())

    yield _studio
    for workshop in opened:
        workshop.database.close()


def _play(studio: Studio) -> Music:
    return asyncio.run(play_music(studio, STORYBOARD))


def _tasks(studio: Studio) -> list[Task]:
    with studio.desk.database.read() as connection:
        return [task for task in ledger.of_project(connection, "p1") if task.task_type is TaskType.MUSIC]


def _tone(*, level: float = 0.3, seconds: float = 1.0) -> bytes:
    samples = array("h", (round(32_767 * level * math.sin(index / 20)) for index in range(round(22_050 * seconds))))
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(22_050)
        out.writeframes(samples.tobytes())
    return buffer.getvalue()


def test_a_piece_is_played_once_and_is_music(studio: Open) -> None:
    """Stereo of 48 kHz whose level moves; asked for again, it comes from the ledger; another process plays the same bytes."""
    here = studio("synth")
    piece = _play(here)
    assert piece.media is not None
    assert piece.made is not None
    assert (piece.made.provider, piece.made.cost, piece.made.reused) == ("offline_music", Decimal(0), False)
    assert "no rights of others" in piece.licence
    data = here.desk.objects.get(piece.media.key)
    facts = measure_audio(data)
    assert (facts.mime, facts.sample_rate, facts.channels) == ("audio/wav", 48_000, 2)
    assert facts.peak_dbfs == pytest.approx(-6.0, abs=0.1)
    assert -30 < facts.lufs < -10
    assert 7_000 < facts.duration_ms < 9_500
    again = _play(here)
    assert again.media == piece.media
    assert again.made is not None
    assert again.made.reused
    (task,) = _tasks(here)
    assert (task.queue, task.cost_actual) == ("audio_queue", Decimal(0))

    seed = here.seed(kind="music", seq=0, take=0, wished=None)
    assert to_wav(play(compose(MOODS["playful"], seed=seed, length_ms=6_000))) == data
    _hear(data)


def _hear(data: bytes) -> None:
    """Strokes and pauses, two different ears, and an end that flows into the beginning."""
    with wave.open(io.BytesIO(data)) as sound:
        samples = array("h", sound.readframes(sound.getnframes()))
    left, right = samples[::2], samples[1::2]
    size = 48_000 // 20
    loud = [math.sqrt(sum(one * one for one in left[at : at + size]) / size) for at in range(0, len(left) - size, size)]
    assert max(loud) > 3 * min(loud)
    assert left != right
    for ear in (left, right):
        steps = sorted(abs(ear[index + 1] - ear[index]) for index in range(0, len(ear) - 1, 7))
        assert abs(ear[0] - ear[-1]) <= steps[-10]


def test_a_new_take_of_the_film_has_new_music(studio: Open) -> None:
    """Whoever asks for the film anew gets another piece: other task, other seed."""
    here = studio("synth")
    first = order_of(here, STORYBOARD, OfflineMusic())
    with here.desk.database.write() as connection:
        overrides.add(connection, "p1", seq=0, field=OverrideField.TAKE_FILM, value="1", by="ann", now=NOW)
    second = order_of(here, STORYBOARD, OfflineMusic())
    assert (first.take, second.take) == (0, 1)
    assert first.request.seed != second.request.seed
    assert first.request.mood == second.request.mood == "playful"


def test_the_operators_own_file(studio: Open, tmp_path: Path) -> None:
    """By path or by object key: its bytes are kept with the project, its hash is the key, its name is not."""
    path = tmp_path / "my song.wav"
    path.write_bytes(_tone())
    by_path = _play(studio(str(path)))
    here = studio("shared/music/bed.wav")
    here.desk.objects.put("shared/music/bed.wav", _tone(), mime="audio/wav")
    by_key = _play(here)
    assert by_path.media is not None
    assert by_path.media == by_key.media
    assert by_path.media.key.startswith("projects/p1/music/")
    assert "operator" in by_path.licence
    assert len(_tasks(here)) == 1
    path.write_bytes(_tone(seconds=1.5))
    other = _play(studio(str(path)))
    assert other.media is not None
    assert (other.media.sha256 == by_path.media.sha256, other.media.duration_ms) == (False, 1_500)
    assert {task.provider_id for task in _tasks(here)} == {"file_music"}


def test_no_music_is_no_task(studio: Open) -> None:
    """`none`: a document that says so, nothing in the ledger."""
    here = studio("none")
    assert _play(here) == Music(media=None, made=None, licence="")
    assert _tasks(here) == []


@pytest.mark.parametrize("name", ["shared/gone.wav", "my song.mp3"])
def test_a_name_that_is_no_object_is_told(studio: Open, name: str) -> None:
    """A relative path is taken for a key: the message says what was looked for, and where a path must begin."""
    with pytest.raises(ComicError) as refused:
        _play(studio(name))
    assert refused.value.code is ErrorCode.INPUT_INVALID
    assert f"COMIC_MUSIC '{name}' names no object" in refused.value.detail


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read: No such file"),
        (b"<html>moved</html>", "expected sound, found 18 bytes of text/html"),
        (_tone()[:-2_000], "bytes are missing"),
        (_tone(level=0.0), "cannot be heard"),
    ],
    ids=["missing", "a-page", "cut-off", "silent"],
)
def test_a_file_that_is_no_music_is_named_before_any_work(studio: Open, tmp_path: Path, content: bytes | None, said: str) -> None:
    """A wrong setting is the operator's to put right: said at once, with the variable's name, without rounds of retries."""
    path = tmp_path / "bed.wav"
    if content is not None:
        path.write_bytes(content)
    here = studio(str(path))
    with pytest.raises(ComicError) as refused:
        _play(here)
    assert refused.value.code is ErrorCode.INPUT_INVALID
    assert "COMIC_MUSIC" in refused.value.detail
    assert said in refused.value.detail
    assert _tasks(here) == []


def test_playing_a_piece_takes_little_memory() -> None:
    """Several films may want their music at once on one machine: a piece of a minute took 670 MB, of 15 s more than 190."""
    limited = "import resource; resource.setrlimit(resource.RLIMIT_AS, (165 << 20,) * 2)"
    code = f"{limited}; from comic_pipeline.providers.offline.music_child import main; main()"
    asked = json.dumps({"mood": "playful", "seed": 7, "length_ms": 15_000}).encode()
    played = subprocess.run([sys.executable, "-c", code], input=asked, capture_output=True, check=False)
    assert played.stderr == b""
    with wave.open(io.BytesIO(played.stdout)) as piece:
        assert piece.getnframes() > 15 * 48_000
