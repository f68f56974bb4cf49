"""Are the pictures there, one a shot, in the film's shape, each worth showing?"""

from collections.abc import Mapping

from comic_pipeline.model.measured import PictureFacts, Unreadable
from comic_pipeline.model.media import FrameImages
from comic_pipeline.model.project import Frame
from comic_pipeline.model.storyboard import Storyboard
from comic_pipeline.model.verdict import Finding, Severity
from comic_pipeline.quality.findings import above, broken, coverage, shape, unreadable
from comic_pipeline.quality.thresholds import (
    BLACK_BRIGHTNESS,
    BLURRED_SHARPNESS,
    BRIGHT_BRIGHTNESS,
    DARK_BRIGHTNESS,
    FLAT_CONTRAST,
    SAME_PICTURE_BITS,
    SIMILAR_PICTURE_BITS,
    SOFT_SHARPNESS,
    WHITE_BRIGHTNESS,
)


def judge_frames(
    frames: FrameImages,
    storyboard: Storyboard,
    *,
    frame: Frame,
    measured: Mapping[int, PictureFacts | Unreadable],
    cards_allowed: bool,
) -> list[Finding]:
    """Findings about every picture by itself, and about pictures that two shots share.

    `measured` holds the facts of every shot's picture by its number. A card in a picture's place is judged as a card alone:
    a WARN where the policy allows it, else an ERROR.
    """
    findings = coverage([one.seq for one in frames.frames], wanted=[shot.seq for shot in storyboard.shots], what="picture")
    drawn: dict[int, PictureFacts] = {}
    for one in frames.frames:
        facts = measured[one.seq]
        if one.fallback:
            severity = Severity.WARN if cards_allowed else Severity.ERROR
            findings.append(broken("picture_drawn", seq=one.seq, measured="a card", wanted="a picture", severity=severity))
        elif isinstance(facts, Unreadable):
            findings.append(unreadable("picture_readable", one.seq, facts))
        else:
            drawn[one.seq] = facts
            if facts.mime != one.media.mime:
                findings.append(broken("type_as_named", seq=one.seq, measured=facts.mime, wanted=one.media.mime))
            findings += shape(one.seq, width=facts.width, height=facts.height, frame=frame)
            findings += _look(one.seq, facts)
    return findings + _twins(drawn)


def closest(seq: int, measured: Mapping[int, PictureFacts | Unreadable]) -> int | None:
    """In how many bits the shot's fingerprint differs from the most similar one of another shot; None without another."""
    own = measured[seq]
    others = [facts for other, facts in measured.items() if other != seq and isinstance(facts, PictureFacts)]
    return min((_bits_apart(own, other) for other in others), default=None) if isinstance(own, PictureFacts) else None


def _look(seq: int, facts: PictureFacts) -> list[Finding]:
    if facts.contrast < FLAT_CONTRAST:
        # What is flat is also without edges, and often black or white: one finding says it.
        return [broken("not_flat", seq=seq, measured=f"{facts.contrast:.1f}", wanted=f"contrast of at least {FLAT_CONTRAST:g}")]
    findings = []
    light = above(
        min(facts.brightness, 255 - facts.brightness),
        error=min(BLACK_BRIGHTNESS, 255 - WHITE_BRIGHTNESS),
        warn=min(DARK_BRIGHTNESS, 255 - BRIGHT_BRIGHTNESS),
    )
    if light:
        wanted = f"{DARK_BRIGHTNESS:g}-{BRIGHT_BRIGHTNESS:g}"
        findings.append(broken("bright_enough", seq=seq, measured=f"{facts.brightness:.0f}", wanted=wanted, severity=light))
    soft = above(facts.sharpness, error=BLURRED_SHARPNESS, warn=SOFT_SHARPNESS)
    if soft:
        wanted = f"at least {SOFT_SHARPNESS:g}"
        findings.append(broken("sharp_enough", seq=seq, measured=f"{facts.sharpness:.0f}", wanted=wanted, severity=soft))
    return findings


def _twins(drawn: Mapping[int, PictureFacts]) -> list[Finding]:
    """The later one of two alike pictures is at fault: making it anew is enough."""
    findings = []
    for seq, facts in drawn.items():
        earlier = [(_bits_apart(facts, drawn[other]), other) for other in drawn if other < seq]
        if not earlier or facts.contrast < FLAT_CONTRAST:
            continue
        bits, twin = min(earlier)
        severity = above(bits, error=SAME_PICTURE_BITS + 1, warn=SIMILAR_PICTURE_BITS + 1)
        if severity:
            measured, wanted = f"{bits} of 256 bits from shot {twin}", f"more than {SIMILAR_PICTURE_BITS} bits"
            findings.append(broken("pictures_differ", seq=seq, measured=measured, wanted=wanted, severity=severity))
    return findings


def _bits_apart(one: PictureFacts, other: PictureFacts) -> int:
    return (one.fingerprint ^ other.fingerprint).bit_count()
