"""Putting a film together from clips, voices, music and cues: what is checked before, ffmpeg's passes, what is checked after.

Belongs here: the order of these steps. Does not: what a film is made of (`film_plan.py`), the filters of its picture
(`film_graph.py`) and its sound (`mix.py`), when shots and lines play (`model/timeline.py`), what the words look like
(`subtitles.py`), judging the result (`probe.py` measures it).
"""

import asyncio
import tempfile
from pathlib import Path

from comic_pipeline.media.boxes import switch_off_subtitles
from comic_pipeline.media.ffmpeg import run_ffmpeg
from comic_pipeline.media.film_graph import joining_arguments, picture_arguments
from comic_pipeline.media.film_plan import MIN_FRAMES, FilmPlan, FilmShot
from comic_pipeline.media.fonts import font_name, font_path
from comic_pipeline.media.mix import Bed, Line, Mix, make_sound
from comic_pipeline.media.probe import AudioFacts, measure_audio, promised_frames
from comic_pipeline.media.sound import MIX_RATE, voice_gain_db
from comic_pipeline.media.subtitles import to_ass, to_srt
from comic_pipeline.model.errors import ErrorCode, MediaFault


async def render_film(plan: FilmPlan, out: Path, *, ffmpeg: str, timeout: float) -> None:  # noqa: ASYNC109 - handed to the child
    """Render `plan` to the MP4 `out` (H.264, AAC, soft subtitle track, index first); `out` appears only when it is complete.

    One pass makes the picture and burns the words; the sound is made beside it, which on two cores costs little time.

    Raises MediaFault(INPUT_INVALID) that lists every shot whose file is missing or not what it should be, that is too short, or
    whose line does not end within it, and music that is none; MediaFault(FFMPEG_FAILED) when rendering fails or one of its steps
    takes longer than `timeout` seconds.
    """
    mix = await asyncio.to_thread(_preflight, plan)
    with tempfile.TemporaryDirectory(prefix="film-") as name:
        folder, part = Path(name), out.with_name(f".{out.name}.part")
        _write_words(plan, folder)
        try:
            picture, sound = await _make_tracks(plan, mix, folder, ffmpeg=ffmpeg, timeout=timeout)
            await run_ffmpeg(joining_arguments(plan, picture, sound, part), ffmpeg=ffmpeg, timeout=timeout, cwd=folder)
            _check_length(plan, part)
            if plan.burn:
                switch_off_subtitles(part)
            part.replace(out)
        finally:
            part.unlink(missing_ok=True)


async def _make_tracks(plan: FilmPlan, mix: Mix, folder: Path, *, ffmpeg: str, timeout: float) -> tuple[Path, Path]:  # noqa: ASYNC109 - handed on
    picture = folder / "picture.mp4"
    # ffmpeg works in that folder, so that the graph names its files by fixed words: no path, no user text is ever in it.
    drawing = asyncio.create_task(run_ffmpeg(picture_arguments(plan, picture), ffmpeg=ffmpeg, timeout=timeout, cwd=folder))
    try:
        sound = await make_sound(mix, folder, ffmpeg=ffmpeg, timeout=timeout)
        await drawing
    finally:
        drawing.cancel()
        # Its own fault matters only when the sound had none: then it was raised above.
        await asyncio.gather(drawing, return_exceptions=True)
    return picture, sound


def _preflight(plan: FilmPlan) -> Mix:
    problems: list[str] = []
    lines: list[Line] = []
    frames = 0
    for shot in plan.shots:
        if plan.frames_of(shot) < MIN_FRAMES:
            problems.append(f"shot {shot.seq}: {shot.length_ms} ms is less than {MIN_FRAMES} frames")
        try:
            promised_frames(shot.clip)
            if shot.voice is not None:
                facts = measure_audio(shot.voice)
                start = frames * MIX_RATE // plan.fps + shot.voice_offset_ms * MIX_RATE // 1000
                end = start + facts.duration_ms * MIX_RATE // 1000
                lines.append(Line(path=shot.voice, start=start, end=end, gain_db=voice_gain_db(facts)))
                problems.extend(_overrun(plan, shot, facts))
        except MediaFault as fault:
            problems.append(f"shot {shot.seq}: {fault.detail}")
        frames += plan.frames_of(shot)
    if not plan.shots:
        problems.append("the film has no shots")
    bed = None
    try:
        bed = None if plan.music is None else Bed(path=plan.music, lufs=measure_audio(plan.music).lufs)
    except MediaFault as fault:
        problems.append(f"music: {fault.detail}")
    if problems:
        raise MediaFault(ErrorCode.INPUT_INVALID, "; ".join(problems))
    return Mix(samples=frames * MIX_RATE // plan.fps, lines=tuple(lines), bed=bed)


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
    label, shown_ms = (plan.label.text, plan.label.shown_ms(plan.length_ms)) if plan.label else ("", 0)
    seen = plan.cues if plan.burn else ()
    words = to_ass(seen, frame=plan.frame, font=font_name(), label=label, label_ms=shown_ms)
    (folder / "film.ass").write_text(words, encoding="utf-8")
