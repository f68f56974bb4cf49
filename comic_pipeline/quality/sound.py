"""Is everything said that should be said, at a speed that a person could speak?"""

from comic_pipeline.model.media import VoiceLines
from comic_pipeline.model.storyboard import Storyboard
from comic_pipeline.model.verdict import Finding, Severity
from comic_pipeline.quality.findings import broken, coverage
from comic_pipeline.quality.thresholds import SPEECH_MS_PER_CHARACTER


def judge_voices(voices: VoiceLines, storyboard: Storyboard) -> list[Finding]:
    """Findings about missing lines, silenced lines (WARN) and implausible lengths."""
    findings = coverage([line.seq for line in voices.lines], wanted=[shot.seq for shot in storyboard.shots], what="line")
    low, high = SPEECH_MS_PER_CHARACTER
    for line in voices.lines:
        if line.silenced:
            findings.append(
                broken("line_spoken", seq=line.seq, measured="silence", wanted=line.text[:40], severity=Severity.WARN)
            )
        if line.media is None:
            continue
        length, characters = line.media.duration_ms or 0, sum(char.isalnum() for char in line.text)
        if not low * characters <= length <= high * max(characters, 2):
            wanted = f"{low * characters}-{high * max(characters, 2)} ms"
            findings.append(broken("length_fits_text", seq=line.seq, measured=f"{length} ms", wanted=wanted))
    return findings
