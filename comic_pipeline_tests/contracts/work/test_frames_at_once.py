"""One project never has more than four pictures under way: the others' turn comes as well."""

from dataclasses import replace
from io import BytesIO

import pytest

from comic_pipeline.model.limits import IMAGE_TASKS_PER_PROJECT
from comic_pipeline.model.storyboard import Shot, Storyboard
from comic_pipeline.providers.interface import Done, Go, ImageRequest, Inline, at_once
from comic_pipeline.providers.offline.panels import OfflineImage
from comic_pipeline.providers.registry import build_providers
from comic_pipeline.settings import load_settings
from comic_pipeline.stages.pictures import draw_frames
from comic_pipeline.stages.studio import Studio
from comic_pipeline_tests.builders import a_project
from comic_pipeline_tests.contracts.work.bench import Bench


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
