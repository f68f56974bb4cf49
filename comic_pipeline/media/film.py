"""Putting a film together: one ffmpeg pass from clips, voices and cues to a finished MP4.

Belongs here: the plan, its preflight, the filter graph. Does not: when shots and lines play (`model/timeline.py`), what the words
look like (`subtitles.py`), judging the result (`probe.py` measures it).

One shot on its way: steady rate -> square pixels and the film's size (cropped where that costs little, letterboxed else) -> its
last frame held -> cut to whole frames. One line: 48 kHz stereo -> gain to -16 LUFS -> its place in the film -> mixed over silence
that is exactly as long as the picture -> limiter. The sound of clips is not used.
"""

import asyncio
import tempfile
from dataclasses import dataclass
from pathlib import Path

from comic_pipeline.media.boxes import switch_off_subtitles
from comic_pipeline.media.ffmpeg import run_ffmpeg
from comic_pipeline.media.fonts import font_name, font_path
from comic_pipeline.media.probe import AudioFacts, measure_audio, promised_frames
from comic_pipeline.media.sound import MIX_RATE, voice_gain_db
from comic_pipeline.media.subtitles import to_ass, to_srt
from comic_pipeline.media.typeset import one_line
from comic_pipeline.model.errors import ErrorCode, MediaFault
from comic_pipeline.model.media import Cue
from comic_pipeline.model.project import Frame, Language

# A clip whose shape differs by no more than this is cropped; beyond it heads would be cut off, so bars are added instead.
CROP_TOLERANCE = 1.15
# ffmpeg's concat loses the segment after one of a single frame (seen in 9.0.2).
MIN_FRAMES = 2
_TRACK_LANGUAGE = {Language.ZH: "zho", Language.EN: "eng"}
_PEAK_LIMIT = 0.84  # -1.5 dBFS: leaves room for the overshoot of AAC


@dataclass(frozen=True)
class FilmShot:
    """One shot: its clip is cut, or held on its last frame, to `length_ms`; its line starts `voice_offset_ms` into the shot."""

    seq: int
    clip: Path
    length_ms: int
    voice: Path | None
    voice_offset_ms: int


@dataclass(frozen=True)
class FilmPlan:
    """A whole film: size in pixels, frames a second, shots in order, cues in film time. `burn` draws the cues into pictures."""

    frame: Frame
    fps: int
    shots: tuple[FilmShot, ...]
    cues: tuple[Cue, ...]
    title: str
    language: Language
    burn: bool = True

    def frames_of(self, shot: FilmShot) -> int:
        """The shot's length in whole frames."""
        return round(shot.length_ms * self.fps / 1000)

    @property
    def frames(self) -> int:
        """The film's length in frames."""
        return sum(map(self.frames_of, self.shots))


@dataclass(frozen=True)
class _Line:
    """A voice in the film: where it starts (samples at 48 kHz) and how much louder it must be."""

    path: Path
    start: int
    gain_db: float


async def render_film(plan: FilmPlan, out: Path, *, ffmpeg: str, timeout: float) -> None:  # noqa: ASYNC109 - handed to the child
    """Render `plan` to the MP4 `out` (H.264, AAC, soft subtitle track, index first); `out` appears only when it is complete.

    Raises MediaFault(INPUT_INVALID) that lists every shot whose file is missing or not what it should be, that is too short, or
    whose line does not end within it; MediaFault(FFMPEG_FAILED) when rendering fails or takes longer than `timeout` seconds.
    """
    lines = await asyncio.to_thread(_preflight, plan)
    with tempfile.TemporaryDirectory(prefix="film-") as folder:
        _write_words(plan, Path(folder))
        part = out.with_name(f".{out.name}.part")
        try:
            # ffmpeg works in that folder, so that the graph names its files by fixed words: no path, no user text is ever in it.
            await run_ffmpeg(_arguments(plan, lines, part), ffmpeg=ffmpeg, timeout=timeout, cwd=Path(folder))
            _check_length(plan, part)
            if plan.burn:
                switch_off_subtitles(part)
            part.replace(out)
        finally:
            part.unlink(missing_ok=True)


def _preflight(plan: FilmPlan) -> list[_Line]:
    problems: list[str] = []
    lines: list[_Line] = []
    frames = 0
    for shot in plan.shots:
        if plan.frames_of(shot) < MIN_FRAMES:
            problems.append(f"shot {shot.seq}: {shot.length_ms} ms is less than {MIN_FRAMES} frames")
        try:
            promised_frames(shot.clip)
            if shot.voice is not None:
                facts = measure_audio(shot.voice)
                start = frames * MIX_RATE // plan.fps + shot.voice_offset_ms * MIX_RATE // 1000
                lines.append(_Line(path=shot.voice, start=start, gain_db=voice_gain_db(facts)))
                problems.extend(_overrun(plan, shot, facts))
        except MediaFault as fault:
            problems.append(f"shot {shot.seq}: {fault.detail}")
        frames += plan.frames_of(shot)
    if not plan.shots:
        problems.append("the film has no shots")
    if problems:
        raise MediaFault(ErrorCode.INPUT_INVALID, "; ".join(problems))
    return lines


def _overrun(plan: FilmPlan, shot: FilmShot, voice: AudioFacts) -> list[str]:
    """Words are never cut: a line must end within its shot."""
    end, length = shot.voice_offset_ms + voice.duration_ms, plan.frames_of(shot) * 1000 / plan.fps
    return [f"shot {shot.seq}: its line ends at {end} ms, the shot at {length:.0f} ms"] if end > length else []


def _check_length(plan: FilmPlan, film: Path) -> None:
    """Look whether all is there: ffmpeg ends well even when a clip gave no picture at all."""
    try:
        frames = promised_frames(film)
    except MediaFault as unlike:
        raise MediaFault(ErrorCode.FFMPEG_FAILED, f"the rendered film is no film: {unlike.detail}") from unlike
    if frames != plan.frames:
        raise MediaFault(ErrorCode.FFMPEG_FAILED, f"the rendered film has {frames} frames instead of {plan.frames}")


def _write_words(plan: FilmPlan, folder: Path) -> None:
    """The files that the graph names: the font alone in its folder, and the cues in both forms."""
    (folder / "fonts").mkdir()
    (folder / "fonts" / "film.otf").symlink_to(font_path())
    (folder / "film.srt").write_text(to_srt(plan.cues), encoding="utf-8")
    (folder / "film.ass").write_text(to_ass(plan.cues, frame=plan.frame, font=font_name()), encoding="utf-8")


def _arguments(plan: FilmPlan, lines: list[_Line], out: Path) -> list[str]:
    inputs: list[str] = []
    for path in [shot.clip for shot in plan.shots] + [line.path for line in lines]:
        inputs += ["-i", f"file:{path.absolute()}"]
    arguments = [*inputs]
    maps = ["-map", "[picture]", "-map", "[sound]"]
    if plan.cues:
        arguments += ["-i", "film.srt"]
        maps += ["-map", f"{len(plan.shots) + len(lines)}:s:0"]
    graph = ";".join([*_picture(plan), *_sound(plan, lines)])
    # -xerror: a damaged clip fails the film instead of being held on its last good frame.
    return ["-xerror", *arguments, "-filter_complex", graph, *maps, *_encoding(plan), f"file:{out.absolute()}"]


def _picture(plan: FilmPlan) -> list[str]:
    width, height, fps = plan.frame.width, plan.frame.height, plan.fps
    misfit = f"max(dar*{height}/{width},{width}/{height}/dar)"
    # `dar` counts pixels that are not square; sizes are even because chroma is halved.
    fit_w = f"2*ceil(if(lte({misfit},{CROP_TOLERANCE}),max({width},{height}*dar),min({width},{height}*dar))/2)"
    fit_h = f"2*ceil(if(lte({misfit},{CROP_TOLERANCE}),max({height},{width}/dar),min({height},{width}/dar))/2)"
    chains = []
    # eof_action=pass: without it a clip of a single frame that has no rate gives no frame at all.
    for number, shot in enumerate(plan.shots):
        frames = plan.frames_of(shot)
        chains.append(
            f"[{number}:v:0]setpts=PTS-STARTPTS,fps={fps}:eof_action=pass,scale=w='{fit_w}':h='{fit_h}':flags=bicubic:out_range=tv,"
            f"crop=w='min(iw,{width})':h='min(ih,{height})',pad={width}:{height}:-1:-1,setsar=1,format=yuv420p,"
            f"tpad=stop_mode=clone:stop={frames},trim=end_frame={frames}[v{number}]"
        )
    joined = "".join(f"[v{number}]" for number in range(len(plan.shots)))
    words = "ass=film.ass:fontsdir=fonts," if plan.burn and plan.cues else ""
    chains.append(f"{joined}concat=n={len(plan.shots)}:v=1:a=0,{words}format=yuv420p[picture]")
    return chains


def _sound(plan: FilmPlan, lines: list[_Line]) -> list[str]:
    samples = plan.frames * MIX_RATE // plan.fps
    stereo = "aformat=sample_fmts=fltp:channel_layouts=stereo"
    chains = [f"anullsrc=r={MIX_RATE}:cl=stereo,{stereo},atrim=end_sample={samples}[a0]"]
    for number, line in enumerate(lines, start=1):
        chains.append(
            f"[{len(plan.shots) + number - 1}:a:0]aresample={MIX_RATE},{stereo},asetpts=N/SR/TB,volume={line.gain_db}dB,"
            f"adelay=delays={line.start}S:all=1[a{number}]"
        )
    joined = "".join(f"[a{number}]" for number in range(len(lines) + 1))
    chains.append(
        f"{joined}amix=inputs={len(lines) + 1}:duration=first:normalize=0,"
        f"alimiter=limit={_PEAK_LIMIT}:level=0:latency=1,atrim=end_sample={samples}[sound]"
    )
    return chains


def _encoding(plan: FilmPlan) -> list[str]:
    language = _TRACK_LANGUAGE[plan.language]
    video = ["-c:v", "libx264", "-preset", "veryfast", "-crf", "20", "-pix_fmt", "yuv420p", "-r", str(plan.fps)]
    audio = ["-c:a", "aac", "-b:a", "160k", "-ar", str(MIX_RATE), "-metadata:s:a:0", f"language={language}"]
    words = ["-c:s", "mov_text", "-metadata:s:s:0", f"language={language}"]
    whole = ["-map_metadata", "-1", "-metadata", f"title={one_line(plan.title)}", "-movflags", "+faststart", "-f", "mp4"]
    return [*video, *audio, *(words if plan.cues else []), *whole]
