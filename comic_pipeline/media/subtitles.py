"""Subtitles: which words are on screen when (cues), and the two forms they are written in, SRT and ASS.

Belongs here: splitting, timing, layout, escaping; any text is safe in both forms. Does not: breaking lines (`typeset.py`),
burning and muxing (`film.py`).
"""

import re
from collections.abc import Mapping, Sequence

from comic_pipeline.media.fonts import drawable, line_height
from comic_pipeline.media.label import label_events
from comic_pipeline.media.typeset import Atom, atoms, break_cost, fill, one_line, wrap
from comic_pipeline.model.media import Cue
from comic_pipeline.model.project import Frame
from comic_pipeline.model.storyboard import said
from comic_pipeline.model.timeline import ShotTiming, Timeline

# Letter height and side margins as shares of the frame; the same for every size, so that a cue fits every film.
EM_OF_SHORT_SIDE = 0.058
SIDE_MARGIN, BOTTOM_MARGIN = 0.06, 0.065
# Vertical players lay buttons over the right edge and captions over the lowest fifth of the screen.
TALL_SIDE_MARGIN, TALL_BOTTOM_MARGIN = 0.125, 0.2
# Em on a line of the narrowest frame (9:16), and where a line of a wide frame becomes tiring to read.
LINE_EM = (1 - 2 * TALL_SIDE_MARGIN) / EM_OF_SHORT_SIDE
WIDE_LINE_EM = 22.0
MAX_LINES = 2

_SHORT_EM = 4.0


def make_cues(timeline: Timeline, texts: Mapping[int, str]) -> tuple[Cue, ...]:
    """Cues for the lines of `texts` (by shot number) in film time, in order and without overlap.

    A line is split into cues that fit on two screen lines of any frame, at sentence ends before clause ends before words; the
    measured time of its voice is shared out by the number of characters. A line without a voice stays for its whole shot.
    Bracketed stage directions are not shown; shots without words get no cue.
    """
    cues: list[Cue] = []
    for shot in timeline.shots:
        parts = _split(shown_words(texts.get(shot.seq, "")))
        cues.extend(_spread(parts, *_span(shot)))
    return tuple(cues)


def shown_words(text: str) -> str:
    """The words of a line on one line of text: without bracketed stage directions and control characters."""
    return one_line(said(text))


def to_srt(cues: Sequence[Cue]) -> str:
    """The cues as an SRT file. What a player would take for markup or for a time line is written so that it is shown instead."""
    blocks = [
        f"{number}\n{_srt_time(cue.start_ms)} --> {_srt_time(cue.end_ms)}\n{_srt_text(cue.text)}\n"
        for number, cue in enumerate(cues, start=1)
    ]
    return "\n".join(blocks)


def to_ass(cues: Sequence[Cue], *, frame: Frame, font: str, label: str = "", label_ms: int = 0) -> str:
    """The cues as an ASS file for a film of this size, lettered in the font family `font` and laid out in the font's real widths.

    Characters that the font cannot draw are left out here (they stay in the SRT), for libass would draw boxes. `label` is seen
    in the upper corner for the first `label_ms`.
    """
    em = EM_OF_SHORT_SIDE * min(frame.width, frame.height)
    limit = min(WIDE_LINE_EM, (1 - 2 * _margins(frame)[0]) * frame.width / em)
    events = [
        f"Dialogue: 0,{_ass_time(cue.start_ms)},{_ass_time(cue.end_ms)},Line,,0,0,0,,{lines}"
        for cue in cues
        if (lines := r"\N".join(map(_ass_text, wrap(drawable(cue.text), limit=limit))))
    ]
    if label:
        events += label_events(label, frame, until=_ass_time(label_ms))
    return "\n".join([_ass_head(frame, font, em), *events, ""])


def _margins(frame: Frame) -> tuple[float, float]:
    """Shares of width and height that are kept free at each side and at the bottom."""
    return (TALL_SIDE_MARGIN, TALL_BOTTOM_MARGIN) if frame.height > frame.width else (SIDE_MARGIN, BOTTOM_MARGIN)


def _span(shot: ShotTiming) -> tuple[int, int]:
    if shot.voice_start_ms is None or shot.voice_end_ms is None or shot.voice_end_ms <= shot.voice_start_ms:
        return shot.start_ms, shot.end_ms
    return shot.voice_start_ms, shot.voice_end_ms


def _spread(parts: Sequence[str], start_ms: int, end_ms: int) -> list[Cue]:
    weights = [sum(not char.isspace() for char in part) for part in parts]
    cues, said = [], 0
    for part, weight in zip(parts, weights, strict=True):
        begin = start_ms + (end_ms - start_ms) * said // sum(weights)
        said += weight
        cues.append(Cue(start_ms=begin, end_ms=start_ms + (end_ms - start_ms) * said // sum(weights), text=part))
    return cues


def _split(text: str) -> list[str]:
    """Cut a line into cues at least cost: few cues, ends at sentences rather than clauses rather than words, no crumbs."""
    pieces = atoms(text, limit=LINE_EM)
    # best[i]: the least cost of everything before atom i, and where its last cue begins.
    best: list[tuple[float, int]] = [(0.0, 0)]
    for end in range(1, len(pieces) + 1):
        best.append(min(_ways(pieces, best, end)))
    parts: list[str] = []
    end = len(pieces)
    while end:
        start = best[end][1]
        parts.append("".join(piece.text for piece in pieces[start:end]).strip())
        end = start
    return parts[::-1]


def _ways(pieces: Sequence[Atom], best: Sequence[tuple[float, int]], end: int) -> list[tuple[float, int]]:
    ways: list[tuple[float, int]] = []
    for start in range(end - 1, -1, -1):
        if len(fill(pieces[start:end], limit=LINE_EM)) > MAX_LINES:
            break
        crumb = sum(piece.width for piece in pieces[start:end]) < _SHORT_EM
        ways.append((best[start][0] + 1.0 + crumb + (break_cost(pieces[end - 1].text) if end < len(pieces) else 0.0), start))
    return ways


def _srt_text(text: str) -> str:
    # Players read <b>, {\an8} and \N inside SRT; full-width signs look the same and mean nothing to them.
    plain = one_line(text).replace("-->", "→")
    plain = re.sub(r"<(?=[A-Za-z/!])", "＜", plain)
    return plain.replace("\\", "＼").replace("{", "｛").replace("}", "｝") or "…"


def _ass_text(line: str) -> str:
    # A backslash has no escape of its own in ASS: an invisible word joiner after it keeps \N, \h and \{ from being read.
    return line.replace("\\", "\\\u2060").replace("{", r"\{").replace("}", r"\}")


def _ass_head(frame: Frame, font: str, em: float) -> str:
    side, bottom = (round(share * length) for share, length in zip(_margins(frame), (frame.width, frame.height), strict=True))
    # Fontsize in ASS is the height of a line, not of the em.
    size = round(em * line_height(), 1)
    return f"""\
[Script Info]
ScriptType: v4.00+
PlayResX: {frame.width}
PlayResY: {frame.height}
WrapStyle: 2
ScaledBorderAndShadow: yes

[V4+ Styles]
Format: Name, Fontname, Fontsize, PrimaryColour, OutlineColour, BackColour, Bold, BorderStyle, Outline, Shadow, Alignment, \
MarginL, MarginR, MarginV
Style: Line,{font},{size},&H00FFFFFF,&H00141414,&H80000000,1,1,{em * 0.07:.2f},{em * 0.03:.2f},2,{side},{side},{bottom}

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text"""


def _srt_time(ms: int) -> str:
    return f"{ms // 3_600_000:02}:{ms // 60_000 % 60:02}:{ms // 1_000 % 60:02},{ms % 1_000:03}"


def _ass_time(ms: int) -> str:
    centis = round(ms / 10)
    return f"{centis // 360_000}:{centis // 6_000 % 60:02}:{centis // 100 % 60:02}.{centis % 100:02}"
