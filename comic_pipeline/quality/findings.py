"""Collecting findings: each helper adds one when a rule is broken, with what was measured and what was wanted."""

from comic_pipeline.model.project import Frame
from comic_pipeline.model.verdict import Finding, Severity
from comic_pipeline.quality.thresholds import ASPECT_TOLERANCE


def broken(rule: str, *, seq: int | None, measured: object, wanted: object, severity: Severity = Severity.ERROR) -> Finding:
    """One finding."""
    return Finding(rule=rule, severity=severity, seq=seq, measured=str(measured), wanted=str(wanted))


def coverage(found: list[int], *, wanted: list[int], what: str) -> list[Finding]:
    """Every shot exactly once: what is missing, doubled or too many."""
    if sorted(found) == sorted(wanted):
        return []
    return [broken(f"{what}_for_every_shot", seq=None, measured=sorted(found), wanted=sorted(wanted))]


def aspect(seq: int | None, *, width: int | None, height: int | None, frame: Frame) -> list[Finding]:
    """The picture's shape is the film's shape."""
    if not width or not height:
        return [broken("has_a_size", seq=seq, measured=f"{width}x{height}", wanted="pixels")]
    asked = frame.width / frame.height
    if abs(width / height - asked) / asked <= ASPECT_TOLERANCE:
        return []
    return [broken("aspect_as_asked", seq=seq, measured=f"{width}x{height}", wanted=f"{frame.width}:{frame.height}")]


def closes_gate(findings: list[Finding]) -> bool:
    """Whether any finding is an ERROR."""
    return any(finding.severity is Severity.ERROR for finding in findings)
