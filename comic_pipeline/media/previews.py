"""Small copies of moving pictures, for pages that must stay small.

Belongs here: one ffmpeg pass for many copies. Does not: which copies a page needs (`stages/review_page.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from comic_pipeline.media.ffmpeg import run_ffmpeg

_ENCODING = ("-c:v", "libx264", "-preset", "veryfast", "-crf", "30", "-pix_fmt", "yuv420p")
_SOUND = ("-c:a", "aac", "-b:a", "64k")
_WHOLE = ("-map_metadata", "-1", "-fflags", "+bitexact", "-flags", "+bitexact", "-movflags", "+faststart", "-f", "mp4")


@dataclass(frozen=True)
class Preview:
    """A copy of `source` named `out`, its longer side at most `side` pixels, with its sound if `sound`."""

    source: Path
    out: str
    side: int
    sound: bool


async def make_previews(previews: Sequence[Preview], folder: Path, *, ffmpeg: str, timeout: float) -> None:  # noqa: ASYNC109 - handed to the child
    """Write every copy into `folder`. The same source gives the same bytes. Raises MediaFault(FFMPEG_FAILED)."""
    arguments = [part for preview in previews for part in ("-i", f"file:{preview.source.absolute()}")]
    for number, preview in enumerate(previews):
        # -2: the other side follows, and is even, because chroma is halved. Decoding costs the most, so the scaler is a fast one.
        long = f"2*trunc(min(max(iw,ih),{preview.side})/2)"
        scale = f"scale=flags=fast_bilinear:w='if(gte(iw,ih),{long},-2)':h='if(gte(iw,ih),-2,{long})'"
        sound = ("-map", f"{number}:a:0", *_SOUND) if preview.sound else ()
        arguments += ["-map", f"{number}:v:0", "-vf", scale, *_ENCODING, *sound, *_WHOLE, preview.out]
    await run_ffmpeg(arguments, ffmpeg=ffmpeg, timeout=timeout, cwd=folder)
