"""Pieces that were stored and are not there any more as they were: nothing is bought from them, nothing of them is shown."""

import pytest

from comic_pipeline.model.errors import ErrorCode, ShotsFailed, StorageFault
from comic_pipeline.model.media import FrameImage, FrameImages, MediaRef, Production
from comic_pipeline.model.money import ZERO
from comic_pipeline.model.storyboard import Shot, Storyboard
from comic_pipeline.model.task import sha256_hex
from comic_pipeline.objects.folder import FolderStore
from comic_pipeline.objects.store import MissingObject
from comic_pipeline.providers.registry import build_providers
from comic_pipeline.settings import load_settings
from comic_pipeline.stages.motion import shoot_clips
from comic_pipeline.stages.studio import Studio
from comic_pipeline_tests.builders import a_project
from comic_pipeline_tests.contracts.work.bench import Bench

PICTURE = b"not really a picture"


class Away(FolderStore):
    """A store that is away for the next `away` reads."""

    away = 0
    reads = 0

    def get(self, key: str) -> bytes:
        """As the real one, when it is there."""
        self.reads += 1
        if self.away:
            self.away -= 1
            raise StorageFault("the store is away")
        return super().get(key)


@pytest.fixture
def objects(bench: Bench) -> Away:
    """The store of the bench, with one picture in it."""
    store = Away(bench.folder, media_url="/media")
    store.put(media().key, PICTURE, mime="image/png")
    return store


def media() -> MediaRef:
    """The picture as it was stored."""
    return MediaRef(
        key="projects/p1/frames/000-0123456789ab.png",
        sha256=sha256_hex(PICTURE),
        size=len(PICTURE),
        mime="image/png",
        width=1280,
        height=720,
    )


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_no_clip_is_bought_from_a_damaged_picture(bench: Bench, objects: Away) -> None:
    """The file was cut between the stages: the shot says what to do, and nothing is sent."""
    objects.put(media().key, PICTURE[:-1], mime="image/png")
    settings = load_settings(ARK_API_KEY="k", COMIC_VIDEO_PROVIDER="ark")
    studio = Studio(project=a_project(), settings=settings, providers=build_providers(settings), desk=bench.desk(objects=objects))
    made = Production(task_id="t", provider="x", model="m", cost=ZERO, template_hash="", seconds=0.0, reused=False)
    frames = FrameImages(frames=(FrameImage(seq=0, media=media(), made=made),))
    shots = (Shot(seq=0, scene_desc="月球", duration_ms=5_000, image_prompt="a cat"),)
    with pytest.raises(ShotsFailed) as failed:
        bench.clock.run(shoot_clips(studio, Storyboard(title="猫", shots=shots), frames))
    assert failed.value.code is ErrorCode.INPUT_INVALID
    assert "make the frame anew" in failed.value.detail
    assert bench.states() in ([], ["failed"])
    assert bench.spent() == ZERO


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_store_that_is_away_for_a_moment_is_read_again(bench: Bench, objects: Away) -> None:
    """A stage reads its pictures outside the ledger's own rounds: a blip there ended the project at an operator's desk."""
    objects.away = 3
    assert bench.clock.run(bench.desk(objects=objects).read(media())) == PICTURE
    assert objects.reads == 4


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_what_is_gone_is_not_waited_for(bench: Bench, objects: Away) -> None:
    """Waiting brings nothing back."""
    with pytest.raises(MissingObject):
        bench.clock.run(bench.desk(objects=objects).read(replace_key(media())))
    assert (objects.reads, bench.clock.elapsed) == (1, 0)


def replace_key(piece: MediaRef) -> MediaRef:
    """The same piece where nothing lies."""
    return piece.model_copy(update={"key": "projects/p1/frames/gone.png"})
