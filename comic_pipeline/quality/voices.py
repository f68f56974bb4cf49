"""Is everything said that should be said, audibly, at a speed that a person could speak?"""

from collections.abc import Mapping

from comic_pipeline.model.measured import SoundFacts, Unreadable
from comic_pipeline.model.media import VoiceLine, VoiceLines
from comic_pipeline.model.storyboard import Storyboard
from comic_pipeline.model.verdict import Finding, Severity
from comic_pipeline.quality.findings import broken, coverage, unreadable
from comic_pipeline.quality.thresholds import (
    CLIPPED_SHARE,
    CLIPPED_SHARE_WARN,
    FULL_SCALE_DBFS,
    OVERSHOOT_DB,
    OVERSHOOT_WARN_DB,
    QUIETEST_LUFS,
    SILENT_DBFS,
    SPEECH_MS_PER_CHARACTER,
)

# By the rules of R128 the meter says this when it heard less than the 400 ms that it needs, or nothing.
_UNMEASURED_LUFS = -70.0


def judge_voices(voices: VoiceLines, storyboard: Storyboard, *, measured: Mapping[int, SoundFacts | Unreadable]) -> list[Finding]:
    """Findings about missing and silenced lines and about every voice; `measured` holds its facts by the shot's number."""
    findings = coverage([line.seq for line in voices.lines], wanted=[shot.seq for shot in storyboard.shots], what="line")
    for line in voices.lines:
        if line.media is None:
            findings += _unspoken(line)
            continue
        facts = measured[line.seq]
        if isinstance(facts, Unreadable):
            findings.append(unreadable("voice_readable", line.seq, facts))
        else:
            findings += _length(line, facts) + _sound(line.seq, facts)
    return findings


def _unspoken(line: VoiceLine) -> list[Finding]:
    if not line.text:
        return []
    severity = Severity.WARN if line.silenced else Severity.ERROR
    return [broken("line_spoken", seq=line.seq, measured="silence", wanted=line.text[:40], severity=severity)]


def _length(line: VoiceLine, facts: SoundFacts) -> list[Finding]:
    low, high = SPEECH_MS_PER_CHARACTER
    characters = sum(char.isalnum() for char in line.text)
    shortest, longest = max(1, low * characters), high * max(characters, 2)
    if shortest <= facts.duration_ms <= longest:
        return []
    measured, wanted = f"{facts.duration_ms} ms", f"{shortest}-{longest} ms"
    return [broken("length_fits_text", seq=line.seq, measured=measured, wanted=wanted)]


def _sound(seq: int, facts: SoundFacts) -> list[Finding]:
    # A line of one syllable is too short for the loudness meter; its RMS says as much.
    loudness = facts.lufs if facts.lufs > _UNMEASURED_LUFS else facts.rms_dbfs
    if loudness < SILENT_DBFS:
        return [broken("not_silent", seq=seq, measured=f"{loudness:.1f} LUFS", wanted=f"at least {SILENT_DBFS:g} LUFS")]
    findings = []
    if loudness < QUIETEST_LUFS:
        measured, wanted = f"{loudness:.1f} LUFS", f"at least {QUIETEST_LUFS:g} LUFS"
        findings.append(broken("loud_enough", seq=seq, measured=measured, wanted=wanted, severity=Severity.WARN))
    severity = _clipping(facts)
    if severity:
        measured = f"{facts.peak_share:.2%} of the samples at {facts.peak_dbfs:.1f} dBFS"
        wanted = f"less than {CLIPPED_SHARE_WARN:.1%}, and below {OVERSHOOT_WARN_DB:g} dBFS"
        findings.append(broken("not_clipped", seq=seq, measured=measured, wanted=wanted, severity=severity))
    return findings


def _clipping(facts: SoundFacts) -> Severity | None:
    share = facts.peak_share if facts.peak_dbfs >= FULL_SCALE_DBFS else 0.0
    if share >= CLIPPED_SHARE or facts.peak_dbfs >= OVERSHOOT_DB:
        return Severity.ERROR
    return Severity.WARN if share >= CLIPPED_SHARE_WARN or facts.peak_dbfs >= OVERSHOOT_WARN_DB else None
