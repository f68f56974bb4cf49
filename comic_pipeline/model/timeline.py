"""When each shot plays: pure arithmetic over measured lengths. Used by subtitles, film and checks alike."""

from pydantic import BaseModel, ConfigDict

# Silence before and after a line, so that words do not touch the cut.
BREATH_BEFORE_MS = 150
BREATH_AFTER_MS = 350


class ShotTiming(BaseModel):
    """One shot in film time (milliseconds). `voice_start_ms` is None where nothing is said."""

    model_config = ConfigDict(frozen=True)

    seq: int
    start_ms: int
    end_ms: int
    voice_start_ms: int | None
    voice_end_ms: int | None

    @property
    def length_ms(self) -> int:
        """How long the shot is on screen."""
        return self.end_ms - self.start_ms


class Timeline(BaseModel):
    """The shots of a film one after another, without gaps."""

    model_config = ConfigDict(frozen=True)

    shots: tuple[ShotTiming, ...]

    @property
    def length_ms(self) -> int:
        """The film's length."""
        return self.shots[-1].end_ms if self.shots else 0


def frames_for(ms: int, *, fps: int) -> int:
    """Whole frames that `ms` milliseconds need, at least one.

    A clip of 5.000 s often measures 4.99 or 5.01: half a frame of tolerance keeps it at 120 frames.
    """
    return max(1, -(-(ms * fps - 500) // 1000))


def plan_timeline(lengths: list[tuple[int, int, int | None]], *, fps: int) -> Timeline:
    """Lay shots one after another from (seq, clip length, voice length or None), in milliseconds.

    A shot lasts as long as the longer of its clip and its line plus breath, rounded up to whole frames of `fps`, so that picture
    and sound stay exact over many shots.
    """
    shots: list[ShotTiming] = []
    frames = 0
    for seq, clip_ms, voice_ms in lengths:
        needed = clip_ms if voice_ms is None else max(clip_ms, BREATH_BEFORE_MS + voice_ms + BREATH_AFTER_MS)
        start = frames * 1000 // fps
        count = frames_for(needed, fps=fps)
        frames += count
        voice_start = None if voice_ms is None else start + BREATH_BEFORE_MS
        shots.append(
            ShotTiming(
                seq=seq,
                start_ms=start,
                end_ms=frames * 1000 // fps,
                voice_start_ms=voice_start,
                voice_end_ms=None if voice_start is None or voice_ms is None else voice_start + voice_ms,
            )
        )
    return Timeline(shots=tuple(shots))
