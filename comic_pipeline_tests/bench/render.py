"""What a whole render costs against one plain ffmpeg pass over the same material, on two cores at 1280x720.

    python -m comic_pipeline_tests.bench.render [--shots 12] [--runs 3]

The plain pass joins the clips, scales them, burns the words, encodes with libx264 veryfast, and strings the lines together in
AAC. The whole render is `render_film`: it also checks every input, mixes and masters the sound with music under it, measures it,
and looks at the result. Both are run in turn; the best of each counts. Exit code 1 when the ratio is above 1.3.
"""

import argparse
import asyncio
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from comic_pipeline.media.ffmpeg import ffmpeg_path
from comic_pipeline.media.film import render_film
from comic_pipeline.media.film_plan import FilmPlan, FilmShot
from comic_pipeline.media.fonts import font_name, font_path
from comic_pipeline.media.subtitles import to_ass
from comic_pipeline.model.media import Cue
from comic_pipeline.model.project import FPS, Frame, Language
from comic_pipeline.providers.interface import Inline, MusicRequest
from comic_pipeline.providers.offline.music import OfflineMusic
from comic_pipeline.providers.offline.voice import Utterance, speak

LIMIT = 1.3
FRAME = Frame(width=1280, height=720)
SHOT_MS = 5_000
_LINE = "月亮上的小猫种下了第一朵花。"


@dataclass(frozen=True)
class Cost:
    """Seconds on the clock, and of processor time in this process and its children."""

    wall: float
    cpu: float


def main() -> int:
    """Make the material, run both ways, print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shots", type=int, default=12, help="shots of five seconds")
    parser.add_argument("--runs", type=int, default=3, help="runs of each way; the best counts")
    asked = parser.parse_args()
    two = sorted(os.sched_getaffinity(0))[:2]
    os.sched_setaffinity(0, two)
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        plan = _material(Path(folder), shots=asked.shots)
        plain, whole = [], []
        for _ in range(asked.runs):
            plain.append(_cost(lambda: _plain_pass(plan, Path(folder))))
            whole.append(_cost(lambda: _whole_render(plan, Path(folder))))
    return _report(plan, plain, whole, cores=len(two))


def _report(plan: FilmPlan, plain: list[Cost], whole: list[Cost], *, cores: int) -> int:
    best = [(min(run.wall for run in runs), min(run.cpu for run in runs)) for runs in (plain, whole)]
    (plain_wall, plain_cpu), (whole_wall, whole_cpu) = best
    ratio = whole_wall / plain_wall
    lines = [
        f"{len(plan.shots)} shots, {plan.frames / plan.fps:.0f} s at {FRAME.width}x{FRAME.height}",
        f"{cores} cores, best of {len(plain)} runs",
        f"plain pass    {plain_wall:6.2f} s   processor {plain_cpu:6.2f} s",
        f"whole render  {whole_wall:6.2f} s   processor {whole_cpu:6.2f} s",
        f"ratio         {ratio:6.2f}     processor {whole_cpu / plain_cpu:6.2f}     (at most {LIMIT})",
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    return int(ratio > LIMIT)


def _cost(work: Callable[[], None]) -> Cost:
    before, began = _cpu(), time.perf_counter()
    work()
    return Cost(wall=time.perf_counter() - began, cpu=_cpu() - before)


def _cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _material(folder: Path, *, shots: int) -> FilmPlan:
    """Moving pictures with grain (easy ones would make encoding, the larger part of both, look cheap), a line a shot, music."""
    clips = [_clip(folder, number) for number in range(min(shots, 3))]
    voice = folder / "voice.wav"
    voice.write_bytes(asyncio.run(speak(Utterance(text=_LINE, voice="cmn", pitch=50, rate=190), timeout=60)))
    done = asyncio.run(OfflineMusic().submit(MusicRequest(mood="calm", seed=1, length_ms=shots * SHOT_MS)))
    if not isinstance(done.output, Inline):
        raise TypeError("the offline musician gives bytes")
    music = folder / "music.wav"
    music.write_bytes(done.output.data)
    return FilmPlan(
        frame=FRAME,
        fps=FPS,
        shots=tuple(
            FilmShot(seq=seq, clip=clips[seq % len(clips)], length_ms=SHOT_MS, voice=voice, voice_offset_ms=150)
            for seq in range(shots)
        ),
        cues=tuple(Cue(start_ms=seq * SHOT_MS + 150, end_ms=seq * SHOT_MS + 2_900, text=_LINE) for seq in range(shots)),
        title="bench",
        language=Language.ZH,
        music=music,
    )


def _clip(folder: Path, number: int) -> Path:
    out = folder / f"clip-{number}.mp4"
    source = f"mandelbrot=s=1280x720:r=24:start_scale={0.3 / (number + 1)},noise=alls=6:allf=t"
    _ffmpeg("-f", "lavfi", "-i", source, "-t", f"{SHOT_MS / 1000}", "-pix_fmt", "yuv420p", "-preset", "veryfast", str(out))
    return out


def _plain_pass(plan: FilmPlan, folder: Path) -> None:
    words = folder / "plain.ass"
    words.write_text(to_ass(plan.cues, frame=plan.frame, font=font_name()), encoding="utf-8")
    inputs = [part for shot in plan.shots for path in (shot.clip, shot.voice) for part in ("-i", str(path))]
    count = len(plan.shots)
    joined = "".join(f"[{2 * number}:v:0][{2 * number + 1}:a:0]" for number in range(count))
    picture = f"[v]scale=1280:720,subtitles={words}:fontsdir={font_path().parent}[p]"
    graph = f"{joined}concat=n={count}:v=1:a=1[v][a];{picture};[a]aresample=48000[s]"
    video = ["-c:v", "libx264", "-preset", "veryfast", "-crf", "20", "-pix_fmt", "yuv420p", "-r", str(plan.fps)]
    audio = ["-c:a", "aac", "-b:a", "160k"]
    _ffmpeg(*inputs, "-filter_complex", graph, "-map", "[p]", "-map", "[s]", *video, *audio, str(folder / "plain.mp4"))


def _whole_render(plan: FilmPlan, folder: Path) -> None:
    asyncio.run(render_film(plan, folder / "whole.mp4", ffmpeg=ffmpeg_path(), timeout=600))


def _ffmpeg(*arguments: str) -> None:
    subprocess.run([ffmpeg_path(), "-nostdin", "-loglevel", "error", "-y", *arguments], check=True)


if __name__ == "__main__":
    sys.exit(main())
