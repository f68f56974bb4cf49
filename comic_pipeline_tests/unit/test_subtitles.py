"""Cues, SRT and ASS: when words are shown, how they break, and that any text stays text."""

import itertools
import re

import pytest

from comic_pipeline.media.fonts import font_name, text_width
from comic_pipeline.media.subtitles import LINE_EM, make_cues, shown_words, to_ass, to_srt
from comic_pipeline.media.typeset import CLOSING, OPENING, atoms, wrap
from comic_pipeline.model.media import Cue
from comic_pipeline.model.project import Frame
from comic_pipeline.model.timeline import ShotTiming, Timeline, plan_timeline

WIDE = Frame(width=1280, height=720)
TALL = Frame(width=720, height=1280)
LONG_ZH = (
    "小猫说：“我要在月球上种一片会发光的花园，让每一颗路过的星星都能停下来歇歇脚！”它抬头望着远方的地球，眼睛里闪着泪光……"
    "那是它回不去的家，也是它日思夜想的地方。"
)
LONG_EN = (
    '"I will plant a glowing garden on the moon," said the kitten, "so that every passing star may stop and rest for a while." '
    "It looked up at the distant Earth, eyes full of tears. That was the home it could not go back to."
)


def _timeline(voice_ms: int | None = 6_000, clip_ms: int = 3_000) -> Timeline:
    return plan_timeline([(0, clip_ms, voice_ms)], fps=24)


def _cue(text: str) -> Cue:
    return Cue(start_ms=0, end_ms=1_000, text=text)


def _ass_lines(text: str, frame: Frame) -> list[str]:
    (event,) = re.finditer(r"^Dialogue: .*?,,0,0,0,,(.*)$", to_ass([_cue(text)], frame=frame, font=font_name()), re.MULTILINE)
    return str(event[1]).split(r"\N")


@pytest.mark.parametrize("text", [LONG_ZH, LONG_EN])
def test_a_long_line_becomes_cues_that_fill_its_voice_exactly(text: str) -> None:
    """Each cue begins where the last one ended; first and last touch the voice's own start and end; no word is lost."""
    cues = make_cues(_timeline(), {0: text})
    assert (cues[0].start_ms, cues[-1].end_ms) == (150, 6_150)
    for before, after in itertools.pairwise(cues):
        assert before.end_ms == after.start_ms
    assert re.sub(r"\s", "", "".join(cue.text for cue in cues)) == re.sub(r"\s", "", text)


@pytest.mark.parametrize("frame", [WIDE, TALL, Frame(width=1080, height=1080), Frame(width=320, height=180)])
@pytest.mark.parametrize("text", [LONG_ZH, LONG_EN, "国" * 90, "W" * 90, "https://example.org/" + "a" * 80])
def test_no_cue_needs_more_than_two_lines_of_any_frame(text: str, frame: Frame) -> None:
    """And every line fits between the margins by the width of its real letters."""
    for cue in make_cues(_timeline(), {0: text}):
        lines = _ass_lines(cue.text, frame)
        assert len(lines) <= 2
        em = 0.058 * min(frame.width, frame.height)
        room = 0.75 if frame.height > frame.width else 0.88
        assert all(text_width(line) * em <= room * frame.width + 1 for line in lines)


def test_a_voice_without_word_timings_is_timed_by_its_measured_length() -> None:
    """MoneyPrinterTurbo #463, #864, #756: no timing step can fail; a quarter of the characters stays a quarter of the voice."""
    cues = make_cues(_timeline(voice_ms=4_000), {0: "一二三四五六七八九。" + "一二三四五六七八九十" * 2 + "一二三四五六七八九。"})
    total = sum(len(cue.text) for cue in cues)
    assert len(cues) > 1
    for cue in cues:
        assert cue.end_ms - cue.start_ms == pytest.approx(4_000 * len(cue.text) / total, abs=1)


def test_cues_end_where_sentences_end() -> None:
    """Breaking inside a clause is the last resort."""
    cues = make_cues(_timeline(), {0: LONG_ZH})
    assert all(re.search(r"[，。！？…：][”]?$", cue.text) for cue in cues), [cue.text for cue in cues]


def test_a_short_line_is_one_cue() -> None:
    """Two short sentences are not torn apart."""
    (cue,) = make_cues(_timeline(voice_ms=1_500), {0: "你好。再见！"})
    assert cue.text == "你好。再见！"


def test_the_last_character_is_never_left_alone() -> None:
    """One word over the limit makes two even cues, not a full one and a crumb."""
    cues = make_cues(_timeline(), {0: "国" * (2 * int(LINE_EM) + 1)})
    assert len(cues) == 2
    assert min(len(cue.text) for cue in cues) >= 4


def test_cues_of_several_shots_keep_to_their_shots() -> None:
    """A line is on screen while it is heard, in film time."""
    timeline = plan_timeline([(0, 2_000, 1_000), (1, 2_000, None), (2, 2_000, 1_500)], fps=24)
    cues = make_cues(timeline, {0: "第一句。", 2: "第三句。"})
    assert [(cue.start_ms, cue.end_ms, cue.text) for cue in cues] == [(150, 1_150, "第一句。"), (4_150, 5_650, "第三句。")]


def test_a_line_whose_voice_failed_is_still_shown() -> None:
    """Silence is allowed by policy; the words must not be lost with the sound (MoneyPrinterTurbo #463)."""
    (cue,) = make_cues(_timeline(voice_ms=None), {0: "没有声音的一句。"})
    assert (cue.start_ms, cue.end_ms) == (0, 3_000)


def test_a_voice_without_length_does_not_make_an_empty_cue() -> None:
    """A cue from 150 to 150 would never be seen."""
    shot = ShotTiming(seq=0, start_ms=0, end_ms=1_000, voice_start_ms=150, voice_end_ms=150)
    (cue,) = make_cues(Timeline(shots=(shot,)), {0: "好。"})
    assert (cue.start_ms, cue.end_ms) == (0, 1_000)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("（轻声）你好。", "你好。"),
        ("你好(softly), world", "你好 , world"),
        ("【旁白】天黑了[sighs]。", "天黑了 。"),
        ("（只有动作）", ""),
        ("（她（低声）说）走。", "走。"),
        ("一半（没有关上", "一半（没有关上"),
        ("  两行\n文字\t在此\x07 ", "两行 文字 在此"),
    ],
)
def test_stage_directions_and_control_characters_are_not_shown(text: str, shown: str) -> None:
    """What is for the actor is not for the reader."""
    assert shown_words(text) == shown


@pytest.mark.parametrize("texts", [{}, {0: ""}, {0: "  \n"}, {0: "（叹气）"}])
def test_nothing_to_say_is_nothing_to_show(texts: dict[int, str]) -> None:
    """A film without words has no cues, and both files are valid and empty."""
    cues = make_cues(_timeline(), texts)
    assert cues == ()
    assert to_srt(cues) == ""
    assert "Dialogue:" not in to_ass(cues, frame=WIDE, font=font_name())


@pytest.mark.parametrize("frame", [WIDE, TALL])
@pytest.mark.parametrize("shift", range(16))
def test_no_line_begins_with_a_closing_mark_or_ends_with_an_opening_one(shift: int, frame: Frame) -> None:
    """Chinese rules of line breaking, wherever the break falls."""
    for cue in make_cues(_timeline(), {0: "国" * shift + "他说：“走吧！”（真的？）《书》，……好——“不。”" * 3}):
        for line in _ass_lines(cue.text, frame):
            assert line[0] not in CLOSING
            assert line[-1] not in OPENING


MIXED = (
    "她在2026年11月30日说\"OK，let's go!\"：票价￥1,299.50元〈约$180〉，占35.5%——“真的？”〈don't〉well-known的《星球2》"
    "第１２３集，气温-3.5℃，🇨🇳队vs.🇯🇵队，见https://a.example/x?y=1&z=2……"
)


@pytest.mark.parametrize("frame", [WIDE, TALL, Frame(width=1080, height=1080)])
@pytest.mark.parametrize("shift", range(13))
def test_no_word_number_pair_of_marks_or_quotation_mark_is_torn(shift: int, frame: Frame) -> None:
    """Mixed Chinese, English and numbers, wherever the break falls: words, amounts, dates, ……, ——, flags stay whole."""
    whole = ["2026", "11", "30", "let's", "￥1,299.50", "$180", "35.5%——", "don't", "well-known", "１２３", "-3.5℃", "vs.", "2"]
    cues = make_cues(_timeline(), {0: "国" * shift + MIXED})
    pieces = [line for cue in cues for line in wrap(cue.text, limit=LINE_EM if frame is TALL else 15)]
    assert re.sub(r"\s", "", "".join(pieces)) == "国" * shift + re.sub(r"\s", "", MIXED)
    for word in [*whole, '"OK，', 'go!"：', "🇨🇳", "🇯🇵", "……", "——", "〈约", "《星"]:
        assert any(word in piece for piece in pieces), word
    assert not any(piece.endswith(('"', "(", "￥", "（", "“", "《")) and piece.count('"') % 2 for piece in pieces)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ('说"走吧"她', ["说", '"走', '吧"', "她"]),
        ('说 "go" 她', ["说 ", '"go" ', "她"]),
        ("真(假)的", ["真", "(假)", "的"]),
        ("f(x)的", ["f(x)", "的"]),
        ("花￥100", ["花", "￥100"]),
        ("第１２集", ["第", "１２", "集"]),
        ("🇨🇳🇯🇵", ["🇨🇳", "🇯🇵"]),
        ('"', ['"']),
        ('"走', ['"走']),
    ],
)
def test_straight_marks_stay_at_what_they_enclose(text: str, pieces: list[str]) -> None:
    """A straight quotation mark is the same character at both ends; a Latin bracket may enclose Chinese."""
    assert [piece.text for piece in atoms(text, limit=LINE_EM)] == pieces


def test_two_lines_break_after_a_clause_if_there_is_one() -> None:
    """A break between 家， and 也是 reads better than two equal halves that tear a word."""
    assert wrap("那是它回不去的家，也是它日思夜想的地方。", limit=LINE_EM) == ("那是它回不去的家，", "也是它日思夜想的地方。")


def test_latin_words_and_numbers_are_not_torn() -> None:
    """3.14 and don't stay whole; so does an emoji family."""
    pieces = [piece.text for piece in atoms("圆周率3.14，don't tear 👨‍👩‍👧它", limit=LINE_EM)]
    assert pieces == ["圆", "周", "率", "3.14，", "don't ", "tear ", "👨‍👩‍👧", "它"]


@pytest.mark.parametrize(
    "text", [LONG_ZH, LONG_EN, "，。！", "（（（", "（", "a，b（c）d", "é́x", "한국어 텍스트", "\u200d", "a  b\tc"]
)
def test_cutting_loses_nothing(text: str) -> None:
    """Whatever the script, the pieces together are the text."""
    assert "".join(piece.text for piece in atoms(text, limit=LINE_EM)).strip() == " ".join(text.split())


def test_srt_is_numbered_and_timed() -> None:
    """The form that every player reads."""
    cues = [Cue(start_ms=0, end_ms=1_234, text="你好。"), Cue(start_ms=3_661_001, end_ms=3_662_000, text="Bye.")]
    assert to_srt(cues) == "1\n00:00:00,000 --> 00:00:01,234\n你好。\n\n2\n01:01:01,001 --> 01:01:02,000\nBye.\n"


@pytest.mark.parametrize(
    "text",
    [r"{\an8}上", "<b>粗</b>", "a --> b", "一\n\n2\n00:00:05,000 --> 00:00:06,000\n二", r"C:\new", "50% 'q' \"d\" a:b;c", "😀"],
)
def test_srt_text_is_never_markup_a_time_or_a_new_cue(text: str) -> None:
    """One cue goes in, one cue comes out, and nothing in it is a command to a player."""
    lines = to_srt([_cue(text)]).splitlines()
    assert len(lines) == 3
    assert "-->" not in lines[2]
    assert not re.search(r"\{|\\|<[A-Za-z/]", lines[2])


def test_plain_text_in_srt_is_not_touched() -> None:
    """Quotes, colons, percent signs, emoji and a lone < are harmless."""
    plain = "“50%” it's: 1 < 2, 3 > 2; 😀"
    assert to_srt([_cue(plain)]).splitlines()[2] == plain


@pytest.mark.parametrize("text", [r"{\an8}", "{", "}", r"\N", r"\{", "a\\", r"{\p1}m 0 0{\p0}"])
def test_ass_text_holds_no_bare_brace_and_no_bare_command(text: str) -> None:
    """Every brace is escaped and every backslash of the text is followed by a word joiner."""
    (line,) = _ass_lines(text, WIDE)
    assert not re.search(r"(?<!\\)[{}]", line)
    assert all(line[match.end()] in "\u2060{}" for match in re.finditer(r"\\", line))
    assert line.count("\u2060") == text.count("\\")


def test_ass_leaves_out_what_the_font_cannot_draw() -> None:
    """An emoji would be burned as a box; a cue of nothing else is no event at all."""
    assert _ass_lines("好😀的", WIDE) == ["好的"]
    assert "Dialogue:" not in to_ass([_cue("😀")], frame=WIDE, font=font_name())


def test_ass_is_laid_out_for_its_frame() -> None:
    """PlayRes is the film's size; vertical films keep a larger foot free; letters grow with the shorter side."""
    heads = {frame: to_ass([], frame=frame, font="Noto Sans SC") for frame in (WIDE, TALL)}
    styles = {frame: re.search(r"^Style: (.*)$", head, re.MULTILINE) for frame, head in heads.items()}
    wide, tall = (style[1].split(",") for style in styles.values() if style is not None)
    assert "PlayResX: 1280\nPlayResY: 720" in heads[WIDE]
    assert "PlayResX: 720\nPlayResY: 1280" in heads[TALL]
    assert wide[1] == tall[1] == "Noto Sans SC"
    assert wide[2] == tall[2]
    assert int(wide[-1]) / 720 < 0.1
    assert int(tall[-1]) / 1280 >= 0.2
    assert int(tall[-2]) / 720 > 0.12
