"""Is the storyboard a film of the length that was asked for, with words that can be said?"""

import re
import unicodedata
from collections.abc import Sequence

from comic_pipeline.model.project import BucketPlan
from comic_pipeline.model.storyboard import Shot, Storyboard
from comic_pipeline.model.timeline import BREATH_AFTER_MS, BREATH_BEFORE_MS
from comic_pipeline.model.verdict import Finding, Severity
from comic_pipeline.quality.findings import broken, coverage
from comic_pipeline.quality.thresholds import LENGTH_TOLERANCE, MS_PER_HAN, MS_PER_WORD, SPEECH_HARD_FACTOR

_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def judge_storyboard(storyboard: Storyboard, *, bucket: BucketPlan, banned: Sequence[str] = ()) -> list[Finding]:
    """Findings about shots, their numbering, total length, empty prompts, speakers, lines too long to say, and banned words."""
    findings = coverage([shot.seq for shot in storyboard.shots], wanted=list(range(bucket.shots)), what="shot")
    asked = bucket.shots * bucket.shot_ms
    total = sum(shot.duration_ms for shot in storyboard.shots)
    if abs(total - asked) > asked * LENGTH_TOLERANCE:
        findings.append(
            broken("length_as_asked", seq=None, measured=f"{total} ms", wanted=f"{asked} ms ± {LENGTH_TOLERANCE:.0%}")
        )
    findings += _banned(None, storyboard.title, banned)
    for shot in storyboard.shots:
        if not shot.image_prompt.strip() or not shot.scene_desc.strip():
            findings.append(broken("prompts_not_empty", seq=shot.seq, measured="empty", wanted="words"))
        findings += [*_speaker(shot), *_speed(shot)]
        words = (shot.scene_desc, shot.dialogue, shot.narration, shot.speaker, shot.image_prompt, shot.motion_prompt)
        findings += _banned(shot.seq, "\n".join(words), banned)
    return findings


def speech_ms(text: str) -> int:
    """How long a calm speaker needs for `text`."""
    han = len(_HAN.findall(text))
    words = len(re.findall(r"\w+(?:['’]\w+)*", _HAN.sub(" ", text)))
    return han * MS_PER_HAN + words * MS_PER_WORD


def found_words(text: str, banned: Sequence[str]) -> list[str]:
    """The banned words that occur in `text`, however they are spaced or cased.

    Latin words are found as whole words ("ass" is not in "glass"); Chinese ones anywhere, also with signs put between them.
    """
    plain = _normal(text)
    solid = "".join(char for char in plain if char.isalnum())
    return [word for word in banned if _occurs(_normal(word), plain=plain, solid=solid)]


def _occurs(word: str, *, plain: str, solid: str) -> bool:
    if _HAN.search(word):
        return "".join(char for char in word if char.isalnum()) in solid
    return re.search(rf"(?<![^\W_]){re.escape(word)}(?![^\W_])", plain) is not None


def _normal(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _banned(seq: int | None, text: str, banned: Sequence[str]) -> list[Finding]:
    found = found_words(text, banned)
    return [broken("words_allowed", seq=seq, measured=", ".join(found), wanted="none of COMIC_BANNED_WORDS")] if found else []


def _speaker(shot: Shot) -> list[Finding]:
    if not shot.dialogue:
        return []
    if not shot.speaker:
        return [broken("speaker_known", seq=shot.seq, measured="no speaker", wanted="a name beside the dialogue")]
    if shot.speaker.lower() in f"{shot.scene_desc} {shot.image_prompt}".lower():
        return []
    wanted = "named in scene_desc or image_prompt"
    return [broken("speaker_in_frame", seq=shot.seq, measured=shot.speaker, wanted=wanted, severity=Severity.WARN)]


def _speed(shot: Shot) -> list[Finding]:
    """A shot is held until its line and its breath end, so that a long line slows the film down before it spoils it."""
    needed, room = speech_ms(shot.spoken), shot.duration_ms - BREATH_BEFORE_MS - BREATH_AFTER_MS
    if needed <= room:
        return []
    severity = Severity.ERROR if needed > SPEECH_HARD_FACTOR * shot.duration_ms else Severity.WARN
    measured, wanted = f"about {needed} ms of speech", f"at most {room} ms"
    return [broken("line_fits_shot", seq=shot.seq, measured=measured, wanted=wanted, severity=severity)]
