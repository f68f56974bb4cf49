"""The music bed: a piece in the mood of the film's style, a file that the operator supplies, or none, by COMIC_MUSIC."""

import asyncio
from pathlib import Path

from comic_pipeline.model.errors import ErrorCode, MediaFault, Refused
from comic_pipeline.model.media import Music
from comic_pipeline.model.storyboard import OverrideField, Storyboard
from comic_pipeline.model.task import TaskType
from comic_pipeline.objects.store import MissingObject, ObjectStore
from comic_pipeline.providers.interface import MusicRequest, Provider
from comic_pipeline.providers.music_file import FileMusic
from comic_pipeline.providers.offline.music import OfflineMusic
from comic_pipeline.settings import NO_MUSIC, SYNTH_MUSIC
from comic_pipeline.stages.studio import Studio
from comic_pipeline.stages.verifying import verify_music
from comic_pipeline.work.orders import Order
from comic_pipeline.work.runner import make_all

# Of the music task, in seconds; the queue and deadline of the film stage are those of its render.
_QUEUE, _DEADLINE = "audio_queue", 300.0
_OWN_LICENCE = "made by this program; no rights of others are in it"
_FILE_LICENCE = "supplied by the operator, who answers for the rights in it"


async def play_music(studio: Studio, storyboard: Storyboard) -> Music:
    """The bed for the film. Raises MediaFault(INPUT_INVALID) for a file that is no music, ShotsFailed, StorageFault."""
    wanted = studio.settings.music
    if wanted == NO_MUSIC:
        return Music(media=None, made=None, licence="")
    if wanted == SYNTH_MUSIC:
        order, licence = order_of(studio, storyboard, OfflineMusic()), _OWN_LICENCE
    else:
        data = await asyncio.to_thread(read_music, wanted, studio.desk.objects)
        order, licence = order_of(studio, storyboard, FileMusic(data)), _FILE_LICENCE
    (done,) = (await make_all(studio.desk, [order])).settle(now=studio.now())
    return Music(media=done.media, made=done.made, licence=licence)


def order_of(studio: Studio, storyboard: Storyboard, provider: Provider[MusicRequest]) -> Order[MusicRequest]:
    """The order of the piece. Its length follows the storyboard, not the voices: a new line needs no new music."""
    take = studio.overrides().take(0, OverrideField.TAKE_FILM)
    request = MusicRequest(
        mood=studio.project.look.mood,
        seed=studio.seed(kind="music", seq=0, take=take, wished=None),
        length_ms=sum(shot.duration_ms for shot in storyboard.shots),
    )
    return Order(
        project_id=studio.project.id,
        task_type=TaskType.MUSIC,
        queue=_QUEUE,
        deadline=_DEADLINE,
        shot_seq=None,
        take=take,
        provider=provider,
        request=request,
        template_hash="",
        inputs=(),
        folder="music",
        verify=verify_music,
    )


def read_music(place: str, objects: ObjectStore) -> bytes:
    """The bytes of COMIC_MUSIC. Raises MediaFault(INPUT_INVALID) before a task is made of them: it is not tried again.

    Raises StorageFault when the store does not answer.
    """
    try:
        data = Path(place).expanduser().read_bytes() if is_path(place) else objects.get(place)
        verify_music(data)
    except OSError as missing:
        raise MediaFault(ErrorCode.INPUT_INVALID, f"COMIC_MUSIC {place!r} cannot be read: {missing.strerror}") from missing
    except (MissingObject, Refused) as missing:
        raise MediaFault(ErrorCode.INPUT_INVALID, f"COMIC_MUSIC {place!r} names no object: {missing.detail}") from missing
    except MediaFault as unfit:
        raise MediaFault(ErrorCode.INPUT_INVALID, f"COMIC_MUSIC {place!r} is no music: {unfit.detail}") from unfit
    return data


def is_path(place: str) -> bool:
    """Whether COMIC_MUSIC names a file of this machine; else it names an object of the store."""
    return place.startswith(("/", "./", "../", "~"))
