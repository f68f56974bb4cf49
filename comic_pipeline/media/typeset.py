"""Breaking text into lines: Chinese and Latin rules over real glyph widths. Pure apart from reading the font.

Belongs here: where a line may break and which breaks look even. Does not: time (`subtitles.py`), drawing (`image.py`).
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from comic_pipeline.media.fonts import text_width

# A line never begins with one of these, and never ends with one of OPENING.
CLOSING = "，。！？；：、）》〉」』】〕〗〙”’］｝»…⋯—～〜·・％‰℃℉°′″々ー‼⁇⁈⁉,.!?;:)]}%"
# Signs of money belong to the number after them.
OPENING = "（《〈「『【〔〖〘“‘［｛«￥＄￡"
# The same marks for both ends, or for Latin and Chinese text alike: what they do is seen from their neighbours.
_LATIN_OPENING = "([{"
_WIDE = (
    "\u2e80-\u303f\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff01-\uff60"
    "\uffe0-\uffe6\u2600-\u27bf\U0001f000-\U0001faff\U00020000-\U0003fffd"
)
_MARKS = "\u0300-\u036f\u200d\u20e3\ufe0e\ufe0f\U0001f3fb-\U0001f3ff"
_closing, _opening = re.escape(CLOSING), re.escape(OPENING)
# What stays whole though wide characters may be parted: full-width numbers and words, flags (two letters each).
_WIDE_WORD = "[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]+|[\U0001f1e6-\U0001f1ff]{2}"
# One character as the eye sees it: with its accents, emoji joined as one.
_CHARACTER = re.compile(rf"\S(?:[{_MARKS}]|(?<=\u200d)[{_WIDE}])*\s*")
_ATOM = re.compile(
    rf"[{_opening}]*(?:{_WIDE_WORD}|(?![{_closing}])[{_WIDE}](?:[{_MARKS}]|(?<=\u200d)[{_WIDE}])*|[^\s{_WIDE}{_opening}]+)[{_closing}]*\s*"
    rf"|[{_opening}{_closing}]+\s*"
)

_SENTENCE_END = re.compile(r"[。！？!?…．.][”’」』）)\"']*\s*$")
_CLAUSE_END = re.compile(r"[，、；：,;:—][”’」』）)\"']*\s*$")


@dataclass(frozen=True)
class Atom:
    """A piece of text that stays on one line, and the space after it. Widths in em: `width` with that space, `ink` without."""

    text: str
    width: float
    ink: float


def one_line(text: str) -> str:
    """`text` on one line: control characters and line ends become spaces, runs of spaces become one."""
    return " ".join("".join(" " if unicodedata.category(char) in ("Cc", "Zl", "Zp") else char for char in text).split())


def atoms(text: str, *, limit: float) -> list[Atom]:
    """Cut one line of `text` where it may break. A word wider than `limit` em (a URL) is cut between its characters."""
    cut: list[Atom] = []
    for piece in _joined(_ATOM.findall(" ".join(text.split()))):
        whole = _atom(piece)
        cut.extend([whole] if whole.ink <= limit else map(_atom, _CHARACTER.findall(whole.text)))
    return cut


def _joined(pieces: Sequence[str]) -> list[str]:
    """The pieces, with straight quotes and Latin brackets kept at what they enclose."""
    joined: list[str] = []
    inside, hold = False, False
    for piece in pieces:
        closes = inside and piece.startswith('"') and joined and not joined[-1].endswith(" ")
        if hold or closes:
            joined[-1] += piece
        else:
            joined.append(piece)
        inside ^= piece.count('"') % 2 == 1
        hold = piece[-1] in _LATIN_OPENING or (inside and piece.endswith('"'))
    return joined


def fill(pieces: Sequence[Atom], *, limit: float) -> list[list[Atom]]:
    """Put atoms on as few lines of `limit` em as they need, each line as full as it can be."""
    lines: list[list[Atom]] = []
    room = 0.0
    for piece in pieces:
        if not lines or piece.ink > room + 1e-6:
            lines.append([])
            room = limit
        lines[-1].append(piece)
        room -= piece.width
    return lines


def break_cost(text: str) -> float:
    """How much it disturbs to break after `text`: nothing at the end of a sentence, most inside a run of characters."""
    if _SENTENCE_END.search(text):
        return 0.0
    if _CLAUSE_END.search(text):
        return 0.4
    return 2.0 if text.endswith(" ") else 3.0


def wrap(text: str, *, limit: float) -> tuple[str, ...]:
    """`text` on as few lines of at most `limit` em as it needs: two break where it disturbs least, more are of equal length."""
    pieces = atoms(text, limit=limit)
    count = len(fill(pieces, limit=limit))
    lines = _halves(pieces, limit) if count == 2 else _even(pieces, limit, count)
    return tuple("".join(piece.text for piece in line).strip() for line in lines)


def _halves(pieces: Sequence[Atom], limit: float) -> list[Sequence[Atom]]:
    widths = [sum(piece.width for piece in pieces[:cut]) for cut in range(len(pieces) + 1)]

    def cost(cut: int) -> float:
        above, below = widths[cut], widths[-1] - widths[cut]
        overfull = 100.0 if len(fill(pieces[:cut], limit=limit)) > 1 or len(fill(pieces[cut:], limit=limit)) > 1 else 0.0
        return overfull + abs(above - below) / limit + break_cost(pieces[cut - 1].text) / 8

    cut = min(range(1, len(pieces)), key=cost)
    return [pieces[:cut], pieces[cut:]]


def _even(pieces: Sequence[Atom], limit: float, count: int) -> list[list[Atom]]:
    narrow, wide = 0.0, limit
    while wide - narrow > 0.25:  # em; finer steps move no character
        middle = (narrow + wide) / 2
        narrow, wide = (narrow, middle) if len(fill(pieces, limit=middle)) <= count else (middle, wide)
    return fill(pieces, limit=wide)


def _atom(text: str) -> Atom:
    return Atom(text, width=text_width(text), ink=text_width(text.rstrip()))
