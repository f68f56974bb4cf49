"""The film's cut in the three forms that editing programs read: OpenTimelineIO, Final Cut Pro X XML, CMX 3600 EDL.

Belongs here: laying a cut list on tracks and writing it through OTIO and its own adapters. Does not: which files there are
(`stages/export.py`), making them (`stems.py`), packing them (`bundle.py`).

No user text gets into names: one adapter looks clips up by name with XPath, and an EDL is read line by line. Titles are cut to
characters that the film's font has, so that they are legal in XML. Times are whole frames; every path is relative to the file.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from comic_pipeline.media.fonts import drawable
from comic_pipeline.model.project import Frame

if TYPE_CHECKING:
    from opentimelineio.schema import Clip, Timeline, Track

OTIO_NAME, FCPX_NAME, EDL_NAME = "timeline.otio", "timeline.fcpxml", "timeline.edl"


@dataclass(frozen=True)
class Cut:
    """A piece of media on a track: `frames` of the file at `path` from its beginning, shown from frame `start` of the film on.

    `media_frames` is how long the file is, `notes` what an editor may want to know of it (only OTIO carries them).
    """

    name: str
    path: str
    start: int
    frames: int
    media_frames: int
    notes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class CutList:
    """A whole film: the picture without gaps, lines and music where they begin. `code` is a plain word that names the film."""

    title: str
    code: str
    fps: int
    size: Frame
    picture: tuple[Cut, ...]
    voices: tuple[Cut, ...]
    music: tuple[Cut, ...]

    @property
    def frames(self) -> int:
        """The film's length in frames."""
        return sum(cut.frames for cut in self.picture)


def to_otio(cuts: CutList) -> str:
    """OpenTimelineIO JSON: tracks `picture`, `voices` and `music`, those of them that hold anything."""
    import opentimelineio as otio

    return _text(otio.adapters.write_to_string(_timeline(cuts, name=_title(cuts)), "otio_json"))


def to_fcpx(cuts: CutList) -> str:
    """Final Cut Pro X XML 1.8: the picture as the spine, voices and music connected to it."""
    import opentimelineio as otio

    written = _text(otio.adapters.write_to_string(_timeline(cuts, name=_title(cuts)), "fcpx_xml"))
    # The adapter asks ffprobe, which is not there, for the size, and leaves an empty name where it got no answer; an empty uid
    # would be one that all films share. Quotes of a title are escaped, so that no title holds either of these.
    sized = written.replace(' name=""/>', f' width="{cuts.size.width}" height="{cuts.size.height}"/>', 1)
    return sized.replace(' uid=""', "", 1)


def to_edl(cuts: CutList) -> str:
    """A CMX 3600 EDL of the picture, which is all that one such list can hold."""
    import opentimelineio as otio

    return _text(otio.adapters.write_to_string(_timeline(cuts, name=cuts.code), "cmx_3600", rate=float(cuts.fps)))


def _title(cuts: CutList) -> str:
    return drawable(cuts.title) or cuts.code


def _timeline(cuts: CutList, *, name: str) -> "Timeline":
    """Made anew for every adapter: they write into what they are given."""
    import opentimelineio as otio

    timeline = otio.schema.Timeline(name=name)
    # The EDL adapter writes the first track, so the picture comes first.
    for track, kind, pieces in (
        ("picture", otio.schema.TrackKind.Video, cuts.picture),
        ("voices", otio.schema.TrackKind.Audio, cuts.voices),
        ("music", otio.schema.TrackKind.Audio, cuts.music),
    ):
        if pieces:
            timeline.tracks.append(_track(track, kind, pieces, fps=cuts.fps))
    return timeline


def _track(name: str, kind: str, cuts: Sequence[Cut], *, fps: int) -> "Track":
    import opentimelineio as otio

    track = otio.schema.Track(name=name, kind=kind)
    end = 0
    for cut in cuts:
        if cut.start > end:
            track.append(otio.schema.Gap(duration=otio.opentime.RationalTime(cut.start - end, fps)))
        track.append(_clip(cut, fps=fps))
        end = cut.start + cut.frames
    return track


def _clip(cut: Cut, *, fps: int) -> "Clip":
    import opentimelineio as otio

    def first(frames: int) -> otio.opentime.TimeRange:
        return otio.opentime.TimeRange(otio.opentime.RationalTime(0, fps), otio.opentime.RationalTime(frames, fps))

    # The reel of an EDL: at most eight letters and digits. The adapter would make one of the file's name and its ending.
    reel = "".join(filter(str.isalnum, cut.name)).upper()[:8]
    return otio.schema.Clip(
        name=cut.name,
        media_reference=otio.schema.ExternalReference(target_url=cut.path, available_range=first(cut.media_frames)),
        source_range=first(cut.frames),
        metadata={"comic": dict(cut.notes), "cmx_3600": {"reel": reel}},
    )


def _text(written: object) -> str:
    return cast("str", written)
