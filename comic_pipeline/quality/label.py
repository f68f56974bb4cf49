"""Does what people see say that AI made it: in the picture, and inside the file?"""

from collections.abc import Sequence

from comic_pipeline.model.label import AigcMark, AiLabel
from comic_pipeline.model.verdict import Finding
from comic_pipeline.quality.findings import broken
from comic_pipeline.quality.thresholds import LABEL_LIKENESS_MIN


def judge_label(label: AiLabel, *, mark: AigcMark | None, likeness: Sequence[float], what: str) -> list[Finding]:
    """Findings about one file, `what`: the mark read from it, and how much each picture that must show the label looks like it.

    No finding names a shot: a shot that a gate refuses is paid anew, and a new picture would not mend a label.
    The number in the mark is not compared: it stands for the material, which the file's own name says.
    """
    findings = []
    least = min(likeness, default=0.0)
    if least < LABEL_LIKENESS_MIN:
        findings.append(
            broken("ai_label_seen", seq=None, measured=f"{what}: {least:.2f}", wanted=f"{label.text} ({LABEL_LIKENESS_MIN})")
        )
    if mark is None:
        findings.append(broken("ai_mark_in_file", seq=None, measured=f"{what}: no AIGC mark", wanted=label.mark.to_json()))
    elif (mark.label, mark.content_producer) != (label.mark.label, label.mark.content_producer):
        findings.append(broken("ai_mark_in_file", seq=None, measured=f"{what}: {mark.to_json()}", wanted=label.mark.to_json()))
    return findings
