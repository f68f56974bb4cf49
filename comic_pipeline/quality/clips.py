"""Are the clips there, one a shot, moving, and started from their pictures?"""

from collections.abc import Mapping

from comic_pipeline.model.measured import ClipFacts, Unreadable
from comic_pipeline.model.media import Clips
from comic_pipeline.model.project import FPS, Frame
from comic_pipeline.model.storyboard import Storyboard
from comic_pipeline.model.verdict import Finding, Severity
from comic_pipeline.quality.findings import above, broken, coverage, shape, unreadable
from comic_pipeline.quality.thresholds import (
    BLACK_RUN_MS,
    CLIP_SOUND_DBFS,
    CLIP_SURPLUS_MS,
    CLIP_TOLERANCE_MS,
    FPS_TOLERANCE,
    HARDLY_ALIKE,
    LOWEST_FPS,
    STILL_RUN_MS,
    STILL_SHARE,
    UNLIKE,
)


def judge_clips(
    clips: Clips, storyboard: Storyboard, *, frame: Frame, measured: Mapping[int, ClipFacts | Unreadable]
) -> list[Finding]:
    """Findings about every clip; `measured` holds its facts by the shot's number."""
    findings = coverage([one.seq for one in clips.clips], wanted=[shot.seq for shot in storyboard.shots], what="clip")
    lengths = {shot.seq: shot.duration_ms for shot in storyboard.shots}
    for one in clips.clips:
        facts = measured[one.seq]
        if isinstance(facts, Unreadable):
            findings.append(unreadable("clip_readable", one.seq, facts))
            continue
        findings += shape(one.seq, width=facts.width, height=facts.height, frame=frame)
        findings += _time(one.seq, facts, wanted_ms=lengths.get(one.seq, facts.duration_ms))
        findings += _look(one.seq, facts)
        if facts.sound_dbfs is not None and facts.sound_dbfs > CLIP_SOUND_DBFS:
            measured_sound = f"sound of {facts.sound_dbfs:.0f} dBFS"
            findings.append(
                broken("no_unasked_sound", seq=one.seq, measured=measured_sound, wanted="no sound", severity=Severity.WARN)
            )
    return findings


def _time(seq: int, facts: ClipFacts, *, wanted_ms: int) -> list[Finding]:
    findings = []
    measured, wanted = f"{facts.duration_ms} ms", f"{wanted_ms} ms"
    # A shorter clip would show a still for what was paid as motion; a longer one only makes a longer shot.
    if facts.duration_ms < wanted_ms - CLIP_TOLERANCE_MS:
        findings.append(broken("clip_long_enough", seq=seq, measured=measured, wanted=wanted))
    if facts.duration_ms > wanted_ms + CLIP_SURPLUS_MS:
        findings.append(broken("clip_not_longer", seq=seq, measured=measured, wanted=wanted, severity=Severity.WARN))
    if abs(facts.fps - FPS) > FPS_TOLERANCE:
        severity = Severity.ERROR if facts.fps < LOWEST_FPS else Severity.WARN
        findings.append(broken("frame_rate", seq=seq, measured=f"{facts.fps:.3f}", wanted=FPS, severity=severity))
    return findings


def _look(seq: int, facts: ClipFacts) -> list[Finding]:
    if facts.black.length_ms >= BLACK_RUN_MS:
        # What is black stands still and resembles nothing: one finding says it.
        measured = f"{facts.black.length_ms} ms from {facts.black.start_ms} ms on"
        return [broken("not_black", seq=seq, measured=measured, wanted=f"less than {BLACK_RUN_MS} ms")]
    findings = []
    if facts.still.length_ms >= min(STILL_RUN_MS, STILL_SHARE * facts.duration_ms):
        severity = Severity.ERROR if facts.still.length_ms >= STILL_SHARE * facts.duration_ms else Severity.WARN
        measured = f"still for {facts.still.length_ms} of {facts.duration_ms} ms"
        findings.append(broken("moves", seq=seq, measured=measured, wanted=f"less than {STILL_RUN_MS} ms", severity=severity))
    alike = above(facts.likeness, error=UNLIKE, warn=HARDLY_ALIKE)
    if alike:
        measured, wanted = f"SSIM {facts.likeness:.2f}", f"at least {HARDLY_ALIKE:.2f}"
        findings.append(broken("starts_from_its_picture", seq=seq, measured=measured, wanted=wanted, severity=alike))
    return findings
