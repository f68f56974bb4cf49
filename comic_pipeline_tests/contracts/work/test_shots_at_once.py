"""One project never has more than four pictures, or clips of this machine, under way: the others' turn comes as well."""

from dataclasses import replace
from io import BytesIO

import pytest

from comic_pipeline.model.limits import IMAGE_TASKS_PER_PROJECT, LOCAL_CLIPS_PER_PROJECT
from comic_pipeline.model.media import FrameImage, FrameImages, MediaRef, Production
from comic_pipeline.model.money import ZERO
from comic_pipeline.model.storyboard import Shot, Storyboard
from comic_pipeline.model.task import sha256_hex
from comic_pipeline.providers.interface import ClipRequest, Done, Go, ImageRequest, Inline, at_once
from comic_pipeline.providers.offline.motion import OfflineVideo
from comic_pipeline.providers.offline.panels import OfflineImage
from comic_pipeline.providers.registry import build_providers
from comic_pipeline.settings import load_settings
from comic_pipeline.stages.motion import shoot_clips
from comic_pipeline.stages.pictures import draw_frames
from comic_pipeline.stages.studio import Studio
from comic_pipeline_tests.builders import a_project
from comic_pipeline_tests.contracts.work.bench import Bench
from comic_pipeline_tests.sandbox.clips import ClipPlan, render_clip


class SlowArtist(OfflineImage):
    """Takes ten seconds a picture and knows how many it drew at once."""

    def __init__(self, bench: Bench, picture: bytes) -> None:
        super().__init__()
        self._clock, self._picture = bench.clock, picture
        self._drawing = self.most = self.drawn = 0

    async def submit(self, request: ImageRequest, *, go: Go = at_once) -> Done:
        """Draw."""
        await go()
        self._drawing += 1
        self.most = max(self.most, self._drawing)
        await self._clock.sleep(10)
        self._drawing, self.drawn = self._drawing - 1, self.drawn + 1
        return Done(output=Inline(self._picture), usage={}, cost=self.estimate(request))


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_twelve_pictures_are_drawn_four_at_a_time(bench: Bench) -> None:
    """Issue line 7: a film of twelve shots takes three turns of four, and no less than four are used."""
    from PIL import Image

    png = BytesIO()
    Image.new("RGB", (64, 36), "teal").save(png, "PNG")
    settings = load_settings(COMIC_AI_LABEL="off")
    artist = SlowArtist(bench, png.getvalue())
    providers = replace(build_providers(settings), image=artist)
    shots = tuple(Shot(seq=seq, scene_desc="月球", duration_ms=5_000, image_prompt=f"a cat {seq}") for seq in range(12))
    studio = Studio(project=a_project(), settings=settings, providers=providers, desk=bench.desk())
    frames = bench.clock.run(draw_frames(studio, Storyboard(title="猫", shots=shots)))
    assert (len(frames.frames), artist.drawn, artist.most) == (12, 12, IMAGE_TASKS_PER_PROJECT)
    assert bench.clock.elapsed == pytest.approx(30, abs=1)


class SlowCamera(OfflineVideo):
    """Takes ten seconds a clip and knows how many it rendered at once; `offline`: on this machine, else as a service would."""

    def __init__(self, bench: Bench, clip: bytes, *, offline: bool) -> None:
        super().__init__(ffmpeg="")
        self.offline = offline
        self._clock, self._clip = bench.clock, clip
        self._rendering = self.most = 0

    async def submit(self, request: ClipRequest, *, go: Go = at_once) -> Done:
        """Render."""
        await go()
        self._rendering += 1
        self.most = max(self.most, self._rendering)
        await self._clock.sleep(10)
        self._rendering -= 1
        return Done(output=Inline(self._clip), usage={}, cost=self.estimate(request))


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize(("where", "most"), [("here", LOCAL_CLIPS_PER_PROJECT), ("service", 12)])
def test_clips_of_this_machine_are_rendered_four_at_a_time(bench: Bench, where: str, most: int) -> None:
    """Twelve clips of ten seconds at once took 3 GB, more than a run's pod has, and nearly all the time they are given."""
    from PIL import Image

    png = BytesIO()
    Image.new("RGB", (1280, 720), "teal").save(png, "PNG")
    data = png.getvalue()
    picture = MediaRef(key="projects/p1/frames/teal.png", sha256=sha256_hex(data), size=len(data), mime="image/png")
    bench.desk().objects.put(picture.key, data, mime=picture.mime)
    made = Production(task_id="t", provider="x", model="m", cost=ZERO, template_hash="", seconds=0.0, reused=False)
    frames = FrameImages(frames=tuple(FrameImage(seq=seq, media=picture, made=made) for seq in range(12)))
    shots = tuple(Shot(seq=seq, scene_desc="月球", duration_ms=1_000, image_prompt=f"a cat {seq}") for seq in range(12))
    clip = render_clip(ClipPlan("a cat", first=None, width=320, height=180, frames=24))
    settings, camera = load_settings(), SlowCamera(bench, clip, offline=where == "here")
    studio = Studio(
        project=a_project(), settings=settings, providers=replace(build_providers(settings), video=camera), desk=bench.desk()
    )
    clips = bench.clock.run(shoot_clips(studio, Storyboard(title="猫", shots=shots), frames))
    assert (len(clips.clips), camera.most) == (12, most)
