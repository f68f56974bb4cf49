"""Does what people see say that AI made it: in the picture, and inside the file?"""

from collections.abc import Sequence

from comic_pipeline.model.label import AigcMark, AiLabel
from comic_pipeline.model.verdict import Finding
from comic_pipeline.quality.findings import broken
from comic_pipeline.quality.thresholds import LABEL_LIKENESS_MIN


def judge_label(label: AiLabel, *, mark: AigcMark | None, likeness: Sequence[float], seq: int | None = None) -> list[Finding]:
    """Findings about one file: the mark read from it, and how much each picture that must show the label looks like it.

    The material's own number in the mark is not compared: what was made before a setting changed keeps its label.
    """
    findings = []
    least = min(likeness, default=0.0)
    if least < LABEL_LIKENESS_MIN:
        findings.append(broken("ai_label_seen", seq=seq, measured=f"{least:.2f}", wanted=f"{label.text} ({LABEL_LIKENESS_MIN})"))
    if mark is None:
        findings.append(broken("ai_mark_in_file", seq=seq, measured="no AIGC mark", wanted=label.mark.to_json()))
    elif (mark.label, mark.content_producer) != (label.mark.label, label.mark.content_producer):
        findings.append(broken("ai_mark_in_file", seq=seq, measured=mark.to_json(), wanted=label.mark.to_json()))
    return findings
