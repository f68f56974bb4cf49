"""Are the pictures there, one a shot, in the film's shape?"""

from comic_pipeline.model.media import Clips, FrameImages
from comic_pipeline.model.project import Frame
from comic_pipeline.model.storyboard import Storyboard
from comic_pipeline.model.verdict import Finding, Severity
from comic_pipeline.quality.findings import aspect, broken, coverage
from comic_pipeline.quality.thresholds import CLIP_TOLERANCE_MS


def judge_frames(frames: FrameImages, storyboard: Storyboard, *, frame: Frame) -> list[Finding]:
    """Findings about missing pictures, shapes, and equal pictures for different shots."""
    findings = coverage([one.seq for one in frames.frames], wanted=[shot.seq for shot in storyboard.shots], what="picture")
    first_with: dict[str, int] = {}
    for one in frames.frames:
        findings += aspect(one.seq, width=one.media.width, height=one.media.height, frame=frame)
        if one.fallback:
            findings.append(broken("picture_drawn", seq=one.seq, measured="a card", wanted="a picture", severity=Severity.WARN))
        twin = first_with.setdefault(one.media.sha256, one.seq)
        if twin != one.seq:
            findings.append(
                broken("pictures_differ", seq=one.seq, measured=f"same bytes as shot {twin}", wanted="its own picture")
            )
    return findings


def judge_clips(clips: Clips, storyboard: Storyboard, *, frame: Frame) -> list[Finding]:
    """Findings about missing clips, shapes and lengths."""
    findings = coverage([one.seq for one in clips.clips], wanted=[shot.seq for shot in storyboard.shots], what="clip")
    lengths = {shot.seq: shot.duration_ms for shot in storyboard.shots}
    for one in clips.clips:
        findings += aspect(one.seq, width=one.media.width, height=one.media.height, frame=frame)
        measured, wanted = one.media.duration_ms or 0, lengths.get(one.seq, 0)
        # A longer clip is cut by the film; a shorter one would show a still for what was paid as motion.
        if measured < wanted - CLIP_TOLERANCE_MS:
            findings.append(broken("clip_long_enough", seq=one.seq, measured=f"{measured} ms", wanted=f"{wanted} ms"))
    return findings
