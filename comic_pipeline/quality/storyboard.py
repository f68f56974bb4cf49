"""Is the storyboard a film of the length that was asked for, with words that can be said?"""

from comic_pipeline.model.project import BucketPlan
from comic_pipeline.model.storyboard import Storyboard
from comic_pipeline.model.verdict import Finding, Severity
from comic_pipeline.quality.findings import broken, coverage
from comic_pipeline.quality.thresholds import LENGTH_TOLERANCE


def judge_storyboard(storyboard: Storyboard, *, bucket: BucketPlan) -> list[Finding]:
    """Findings about shots, their numbering, total length, empty prompts and nameless speakers."""
    findings = coverage([shot.seq for shot in storyboard.shots], wanted=list(range(bucket.shots)), what="shot")
    asked = bucket.shots * bucket.shot_ms
    total = sum(shot.duration_ms for shot in storyboard.shots)
    if abs(total - asked) > asked * LENGTH_TOLERANCE:
        findings.append(
            broken("length_as_asked", seq=None, measured=f"{total} ms", wanted=f"{asked} ms ± {LENGTH_TOLERANCE:.0%}")
        )
    for shot in storyboard.shots:
        if not shot.image_prompt.strip() or not shot.scene_desc.strip():
            findings.append(broken("prompts_not_empty", seq=shot.seq, measured="empty", wanted="words"))
        if shot.dialogue and shot.speaker and shot.speaker.lower() not in f"{shot.scene_desc} {shot.image_prompt}".lower():
            wanted = "named in scene_desc or image_prompt"
            findings.append(
                broken("speaker_in_frame", seq=shot.seq, measured=shot.speaker, wanted=wanted, severity=Severity.WARN)
            )
        if shot.dialogue and not shot.speaker:
            findings.append(broken("speaker_known", seq=shot.seq, measured="no speaker", wanted="a name beside the dialogue"))
    return findings
