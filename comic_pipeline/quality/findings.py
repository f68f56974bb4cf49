"""Making findings: each helper adds one when a rule is broken, with what was measured and what was wanted."""

from comic_pipeline.model.measured import Unreadable
from comic_pipeline.model.project import Frame
from comic_pipeline.model.verdict import Finding, Severity
from comic_pipeline.quality.rules import RULES
from comic_pipeline.quality.thresholds import ASPECT_TOLERANCE, CROPPED_ASPECT, SMALLEST_SHARE


def broken(rule: str, *, seq: int | None, measured: object, wanted: object, severity: Severity = Severity.ERROR) -> Finding:
    """One finding. Raises LookupError for a rule that has no words (`rules.py`)."""
    if rule not in RULES:
        raise LookupError(f"the rule {rule} is not listed in quality/rules.py")
    return Finding(rule=rule, severity=severity, seq=seq, measured=str(measured), wanted=str(wanted))


def coverage(found: list[int], *, wanted: list[int], what: str) -> list[Finding]:
    """Every shot exactly once: each one that is missing, doubled or too many is named."""
    findings = []
    for seq in sorted({*found, *wanted}):
        count, due = found.count(seq), wanted.count(seq)
        if count != due:
            findings.append(broken(f"{what}_for_every_shot", seq=seq, measured=count, wanted=due))
    return findings


def unreadable(rule: str, seq: int, facts: Unreadable) -> Finding:
    """The file of one shot cannot be measured at all."""
    return broken(rule, seq=seq, measured=facts.reason, wanted="a file that decodes to its end")


def shape(seq: int, *, width: int, height: int, frame: Frame) -> list[Finding]:
    """The picture has the film's shape and size: a little off is cropped or enlarged and shown as a WARN."""
    if not width or not height:
        return [broken("has_a_size", seq=seq, measured=f"{width}x{height}", wanted="pixels")]
    measured, findings = f"{width}x{height}", []
    asked = frame.width / frame.height
    off = abs(width / height - asked) / asked
    if off > ASPECT_TOLERANCE:
        severity = Severity.WARN if off <= CROPPED_ASPECT else Severity.ERROR
        wanted = f"{frame.width}:{frame.height} ± {ASPECT_TOLERANCE:.0%}"
        findings.append(broken("aspect_as_asked", seq=seq, measured=measured, wanted=wanted, severity=severity))
    share = min(width, height) / min(frame.width, frame.height)
    if share < 1 - ASPECT_TOLERANCE:
        severity = Severity.WARN if share >= SMALLEST_SHARE else Severity.ERROR
        wanted = f"at least {frame.width}x{frame.height}"
        findings.append(broken("large_enough", seq=seq, measured=measured, wanted=wanted, severity=severity))
    return findings


def above(value: float, *, error: float, warn: float) -> Severity | None:
    """WARN below `warn`, ERROR below `error`, None for a good value; `error` is at most `warn`."""
    if value < error:
        return Severity.ERROR
    return Severity.WARN if value < warn else None


def closes_gate(findings: list[Finding]) -> bool:
    """Whether any finding is an ERROR."""
    return any(finding.severity is Severity.ERROR for finding in findings)
