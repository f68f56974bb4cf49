"""What stages make: references to stored media and the typed document of each asset.

A document is small JSON that names media by object key and SHA-256; the bytes lie beside it in the object store.
"""

from datetime import datetime
from decimal import Decimal

from pydantic import BaseModel, ConfigDict


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True)


class MediaRef(_Value):
    """Stored bytes: where they are, what they are. Sizes in pixels, lengths in milliseconds; None where it does not apply."""

    key: str
    sha256: str
    size: int
    mime: str
    width: int | None = None
    height: int | None = None
    duration_ms: int | None = None


class Production(_Value):
    """How one piece came to be: shown in the UI and in the provenance manifest. `cost` is CNY over all attempts."""

    task_id: str
    provider: str
    model: str
    cost: Decimal
    template_hash: str
    seconds: float
    reused: bool


class FrameImage(_Value):
    """The picture of one shot, as it was delivered (`media`: what providers get) and with the AI label (`labelled`).

    `fallback`: a card that says that the picture could not be made, by COMIC_ON_FRAME_FAILURE. `labelled` is None when labels
    are switched off.
    """

    seq: int
    media: MediaRef
    made: Production
    fallback: bool = False
    labelled: MediaRef | None = None

    @property
    def shown(self) -> MediaRef:
        """What people see and take away."""
        return self.labelled or self.media


class FrameImages(_Value):
    """The document of `frame_images`."""

    frames: tuple[FrameImage, ...]


class VoiceLine(_Value):
    """The spoken line of one shot, in the provider's `voice`.

    `media` is None when nothing is said, or when it failed and silence is allowed: `silenced`.
    """

    seq: int
    text: str
    speaker: str
    voice: str = ""
    media: MediaRef | None
    made: Production | None
    silenced: bool = False


class VoiceLines(_Value):
    """The document of `voice_lines`: one entry a shot, in order."""

    lines: tuple[VoiceLine, ...]


class Clip(_Value):
    """The moving picture of one shot."""

    seq: int
    media: MediaRef
    made: Production


class Clips(_Value):
    """The document of `clips`."""

    clips: tuple[Clip, ...]


class Cue(_Value):
    """One subtitle on screen, in film time (milliseconds)."""

    start_ms: int
    end_ms: int
    text: str


class Subtitles(_Value):
    """The document of `subtitles`: cues in film time, the stored `.srt` and `.ass` (None for a film without words)."""

    cues: tuple[Cue, ...]
    srt: MediaRef | None
    ass: MediaRef | None = None


class Music(_Value):
    """The document of `music`: the bed under the film; no `media` when none was wanted. `licence`: whose rights are in it."""

    media: MediaRef | None
    made: Production | None
    licence: str


class FinalVideo(_Value):
    """The document of `final_video`. `planned_ms` is what the timeline asked for; `media.duration_ms` is what was measured."""

    title: str
    media: MediaRef
    planned_ms: int
    made: Production
    offline: bool


class CoverImage(_Value):
    """The document of `cover_image`."""

    media: MediaRef


class TimelineExport(_Value):
    """The document of `timeline_export`: the three timeline files, and the ZIP that has them together with all they refer to.

    `frames` is the film's length on these timelines, `entries` every name inside the ZIP.
    """

    bundle: MediaRef
    otio: MediaRef
    fcpxml: MediaRef
    edl: MediaRef
    frames: int
    entries: tuple[str, ...]


class ReviewPage(_Value):
    """The document of `review_page`: the page, and the manifest with all verdicts that it shows.

    `embedded` files are in the page itself, `linked` ones were too large for it; `warnings` is what a person should look at.
    """

    page: MediaRef
    manifest: MediaRef
    embedded: int
    linked: int
    warnings: int


class PublishedVideo(_Value):
    """The document of `published_video`: what lies in `published/`. `version` counts the project's releases from 1."""

    title: str
    version: int
    film: MediaRef
    cover: MediaRef
    srt: MediaRef | None
    manifest: MediaRef
    provenance: MediaRef
    approved_by: str
    approved_at: datetime
