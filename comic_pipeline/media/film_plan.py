"""What a film is made of: shots, cues, size, title, music. Values alone.

Belongs here: what a render is asked for. Does not: filters (`film_graph.py`, `mix.py`), running them (`film.py`).
"""

from dataclasses import dataclass
from pathlib import Path

from comic_pipeline.model.label import AiLabel
from comic_pipeline.model.media import Cue
from comic_pipeline.model.project import Frame, Language

# ffmpeg's concat loses the segment after one of a single frame (seen in 9.0.2).
MIN_FRAMES = 2


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
    """A whole film: size in pixels, frames a second, shots in order, cues in film time. `burn` draws the cues into pictures.

    The label's words are drawn in any case, and its mark is written into the file.

    `music` is repeated or cut to the film's length. With `crossfade_ms` each shot fades in over the one before it, which is held
    that much longer: every shot, line and cue stays where it is without.
    """

    frame: Frame
    fps: int
    shots: tuple[FilmShot, ...]
    cues: tuple[Cue, ...]
    title: str
    language: Language
    burn: bool = True
    label: AiLabel | None = None
    music: Path | None = None
    crossfade_ms: int = 0

    def frames_of(self, shot: FilmShot) -> int:
        """The shot's length in whole frames."""
        return round(shot.length_ms * self.fps / 1000)

    def fade_into(self, shot: FilmShot) -> int:
        """Frames over which `shot` fades in; at most half of it, so that it is also seen alone, and none for the first."""
        wanted = round(self.crossfade_ms * self.fps / 1000)
        return 0 if shot is self.shots[0] else min(wanted, self.frames_of(shot) // 2)

    @property
    def frames(self) -> int:
        """The film's length in frames."""
        return sum(map(self.frames_of, self.shots))

    @property
    def length_ms(self) -> int:
        """The film's length, rounded up."""
        return -(-self.frames * 1000 // self.fps)
