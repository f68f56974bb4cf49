"""The film render as a provider: fetching its pieces must not hold up the loop that the run's heartbeat beats in."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from comic_pipeline.model.media import MediaRef
from comic_pipeline.model.project import FPS, Frame, Language
from comic_pipeline.objects.folder import FolderStore
from comic_pipeline.objects.store import MissingObject
from comic_pipeline.providers.render import FilmRequest, FilmShotRequest, LocalRender


class _FarAway(FolderStore):
    """A store that gives nothing until the event loop has turned, and says whether it ever did."""

    def __init__(self, root: Path) -> None:
        super().__init__(root, media_url="")
        self.turned = threading.Event()
        self.waited_well = False

    @contextmanager
    def local(self, key: str) -> Iterator[Path]:
        """Wait as for a slow download; there is nothing at its end."""
        self.waited_well = self.turned.wait(timeout=2)
        raise MissingObject(f"there is no object at {key}")
        yield Path(key)


def test_a_slow_download_does_not_stop_the_loop(tmp_path: Path) -> None:
    """With clips on a slow S3 a run was silent for minutes, taken for dead, and followed by another one that did the same."""
    objects = _FarAway(tmp_path)
    clip = MediaRef(key="projects/p1/clips/000-0123456789ab.mp4", sha256="0" * 64, size=1, mime="video/mp4")
    shot = FilmShotRequest(seq=0, clip=clip, length_ms=5_000, voice=None, voice_offset_ms=0)
    request = FilmRequest(
        frame=Frame(width=1280, height=720), fps=FPS, shots=(shot,), cues=(), title="Film", language=Language.EN
    )

    async def render() -> None:
        asyncio.get_running_loop().call_later(0.01, objects.turned.set)
        await LocalRender(objects=objects, ffmpeg="", timeout=10).submit(request)

    with pytest.raises(MissingObject):
        asyncio.run(render())
    assert objects.waited_well
