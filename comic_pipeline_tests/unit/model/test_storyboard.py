"""From a model's parsed JSON to a storyboard, and operators' changes over it. One test a kind of answer seen in the field."""

from typing import Any

import pytest

from comic_pipeline.model.errors import ErrorCode, InvalidAnswer
from comic_pipeline.model.storyboard import (
    UNTITLED,
    OverrideField,
    Overrides,
    Shot,
    ShotOverride,
    Storyboard,
    build_storyboard,
)


def a_shot(**facts: Any) -> dict[str, Any]:
    """A shot as a model writes it."""
    return {"scene_desc": "月球花园", "image_prompt": "a cat plants a flower", "duration_ms": 5_000} | facts


def build(document: object) -> Storyboard:
    """Build with shots of five seconds."""
    return build_storyboard(document, shot_ms=5_000)


def problems(document: object) -> str:
    """What the model is told to mend."""
    with pytest.raises(InvalidAnswer) as invalid:
        build(document)
    assert invalid.value.code is ErrorCode.SCRIPT_INVALID
    return invalid.value.problems


TWO = [a_shot(seq=0), a_shot(seq=1)]


@pytest.mark.parametrize(
    ("document", "title"),
    [
        ({"title": "月下花", "shots": TWO}, "月下花"),
        ({"title": "月下花", "frames": TWO}, "月下花"),
        ({"items": TWO}, UNTITLED),
        ({"storyboard": TWO}, UNTITLED),
        ({"storyboard": {"title": "月下花", "shots": TWO}}, "月下花"),
        ({"data": {"frames": TWO}}, UNTITLED),
        ({"title": "月下花", "data": {"shots": TWO}}, "月下花"),
        ({"title": "外", "data": {"title": "内", "shots": TWO}}, "内"),
        (TWO, UNTITLED),
        ({"title": None, "shots": TWO}, UNTITLED),
        ({"title": "  ", "shots": TWO}, UNTITLED),
        ({"title": 7, "shots": TWO}, UNTITLED),
        ({"title": " 月下\n花 ", "shots": TWO}, "月下 花"),
    ],
    ids=str,
)
def test_shots_are_found_in_every_wrapping_that_models_use(document: object, title: str) -> None:
    """`frames` for `shots`, a wrapper object, a bare list; a title that is missing is written as 未命名漫剧, on one line."""
    storyboard = build(document)
    assert storyboard.title == title
    assert [shot.seq for shot in storyboard.shots] == [0, 1]


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"shots": []}, "at least one shot"),
        ([], "at least one shot"),
        ({}, "`shots` (a list) is missing"),
        ({"title": "x"}, "`shots` (a list) is missing"),
        ({"a": {}, "b": {}}, "`shots` (a list) is missing"),
        ({"shots": "three shots"}, "`shots` (a list) is missing"),
        ({"shots": None}, "`shots` (a list) is missing"),
        ("prose", "one JSON object"),
        (None, "one JSON object"),
        (7, "one JSON object"),
    ],
    ids=str,
)
def test_an_answer_without_shots_says_what_is_missing(document: object, said: str) -> None:
    """The words go into the repair prompt: they must tell the model what to write."""
    assert said in problems(document)


@pytest.mark.parametrize(
    ("synonym", "field"),
    [
        ("scene", "scene_desc"),
        ("scene_description", "scene_desc"),
        ("description", "scene_desc"),
        ("imagePrompt", "image_prompt"),
        ("picture", "image_prompt"),
        ("dialog", "dialogue"),
        ("line", "dialogue"),
        ("voiceover", "narration"),
        ("voice_over", "narration"),
        ("character", "speaker"),
        ("role", "speaker"),
        ("motionPrompt", "motion_prompt"),
        ("motion", "motion_prompt"),
        ("camera", "motion_prompt"),
    ],
)
def test_a_synonym_is_read_as_the_field(synonym: str, field: str) -> None:
    """Models rename keys; the words are the same."""
    raw = a_shot()
    raw.pop(field, None)
    assert getattr(build([raw | {synonym: " words "}]).shots[0], field) == "words"


@pytest.mark.parametrize("synonym", ["seq", "index", "shot", "shot_no"])
def test_a_synonym_of_the_number_is_read(synonym: str) -> None:
    """The order that the numbers give counts, not that of the list."""
    storyboard = build([a_shot(**{synonym: 1}, scene_desc="second"), a_shot(**{synonym: 0}, scene_desc="first")])
    assert [shot.scene_desc for shot in storyboard.shots] == ["first", "second"]


def test_an_unknown_key_names_the_shot_and_the_missing_field() -> None:
    """Neither guessed nor ignored: the repair prompt says which shot lacks what."""
    raw = a_shot(bild="a cat")
    del raw["image_prompt"]
    assert problems([a_shot(), raw]).startswith("shot 1: image_prompt: Field required")


def test_every_wrong_field_of_every_shot_is_named_at_once() -> None:
    """One repair round must be enough for all of them."""
    said = problems([a_shot(duration_ms=50), a_shot(), a_shot(image_prompt="", scene_desc=None), "prose"])
    lines = said.splitlines()
    assert [line.split(":")[0] for line in lines] == ["shot 0", "shot 2", "shot 2", "shot 3"]
    assert "duration_ms" in lines[0]
    assert {line.split(": ")[1] for line in lines[1:3]} == {"scene_desc", "image_prompt"}
    assert "\x00" not in said


@pytest.mark.parametrize("number", ["five", 999, 30_001, 0, -5_000, 1e9, float("nan"), float("inf"), [5], {}])
def test_an_impossible_duration_is_named(number: object) -> None:
    """One to thirty seconds; models give times past the end of the film."""
    assert problems([a_shot(duration_ms=number)]).startswith("shot 0: duration_ms")


@pytest.mark.parametrize(("given", "built"), [(None, 5_000), ("3000", 3_000), (3_000.0, 3_000), (1_000, 1_000), (30_000, 30_000)])
def test_a_duration_is_taken_as_meant(given: object, built: int) -> None:
    """Missing: what the bucket asks for. A number in quotes is a number."""
    assert build([a_shot(duration_ms=given)]).shots[0].duration_ms == built
    raw = a_shot()
    del raw["duration_ms"]
    assert build([raw]).shots[0].duration_ms == 5_000


def test_words_up_to_their_limits_are_kept() -> None:
    """The limits are far above what is asked for; what reaches one is still a title, a name and a line."""
    longest = build({"title": "t" * 200, "shots": [a_shot(dialogue="d" * 4_000, speaker="s" * 200, image_prompt="p" * 4_000)]})
    assert (len(longest.title), len(longest.shots[0].dialogue), len(longest.shots[0].speaker)) == (200, 4_000, 200)
    assert "title: has 201 characters, at most 200" in problems({"title": "t" * 201, "shots": TWO})
    assert "dialogue: Value error, has 4001 characters, at most 4000" in problems([a_shot(dialogue="d" * 4_001)])


def test_nulls_are_empty_where_words_may_be_missing() -> None:
    """A shot without words is silent on purpose."""
    shot = build([a_shot(dialogue=None, narration=None, speaker=None, motion_prompt=None, seq=None)]).shots[0]
    assert (shot.dialogue, shot.narration, shot.speaker, shot.motion_prompt, shot.spoken) == ("", "", "", "", "")


@pytest.mark.parametrize("field", ["scene_desc", "image_prompt"])
def test_nulls_are_named_where_words_are_needed(field: str) -> None:
    """A picture of nothing would be paid for."""
    assert problems([a_shot(**{field: None})]).startswith(f"shot 0: {field}")
    assert problems([a_shot(**{field: "   "})]).startswith(f"shot 0: {field}")


@pytest.mark.parametrize(
    ("numbers", "built"),
    [
        ([0, 1, 2], True),
        ([1, 2, 3], True),
        ([2, 0, 1], True),
        ([3, 2, 1], True),
        ([None, None, None], True),
        ([0, 1, 1], False),
        ([0, 2, 3], False),
        ([2, 3, 4], False),
        ([-1, 0, 1], False),
        ([0, None, 0], False),
    ],
)
def test_shots_are_numbered_from_0_without_gaps(numbers: list[int | None], *, built: bool) -> None:
    """From 1 is the same film; repeats and gaps mean that a shot was lost or doubled."""
    document = [a_shot(seq=number, scene_desc=f"scene {number}") for number in numbers]
    if not built:
        assert "without gaps or repeats" in problems(document)
        return
    storyboard = build(document)
    assert [shot.seq for shot in storyboard.shots] == [0, 1, 2]
    assert [shot.scene_desc for shot in storyboard.shots] == [
        f"scene {number}" for number in sorted(numbers, key=lambda one: one or 0)
    ]


@pytest.mark.parametrize("field", ["scene_desc", "image_prompt", "dialogue", "narration", "speaker", "motion_prompt"])
@pytest.mark.parametrize("char", ["\x00", "\x1b", "\ud800"])
def test_characters_that_are_no_text_are_named(field: str, char: str) -> None:
    """NUL ends a C string on the way to the voice, an escape breaks subtitles, a surrogate cannot be stored."""
    assert problems([a_shot(**{field: f"a{char}b"})]).startswith(f"shot 0: {field}")


@pytest.mark.parametrize("char", ["\x00", "\ud800"])
def test_a_title_that_is_no_text_is_named(char: str) -> None:
    """The title goes to the database: Postgres takes neither, and the project would fail without a usable reason."""
    assert problems({"title": f"a{char}b", "shots": TWO}).startswith("title: has the character U+")


def test_emoji_and_line_breaks_in_words_stay() -> None:
    """Only what is no text is refused."""
    assert build([a_shot(dialogue="你好😀\n再见")]).shots[0].dialogue == "你好😀\n再见"


def test_what_is_said_and_by_whom() -> None:
    """Dialogue before narration; narration is the narrator's, whoever is named."""
    both = Shot(seq=0, scene_desc="x", image_prompt="x", duration_ms=5_000, dialogue="嗨", narration="夜", speaker="小猫")
    assert (both.spoken, both.voice_of) == ("嗨", "小猫")
    told = both.model_copy(update={"dialogue": ""})
    assert (told.spoken, told.voice_of) == ("夜", "")


def test_a_shot_is_found_by_number() -> None:
    """An unknown number is an error that names it."""
    storyboard = build(TWO)
    assert storyboard.shot(1).seq == 1
    with pytest.raises(LookupError, match="no shot 2"):
        storyboard.shot(2)


def an_override(seq: int, field: OverrideField, value: str) -> ShotOverride:
    """One change of an operator."""
    return ShotOverride(seq=seq, field=field, value=value)


def test_overrides_lie_over_the_storyboard() -> None:
    """Words and seed of the named shot change; takes change no words; the stored storyboard stays as it was."""
    storyboard = build(TWO)
    changes = Overrides(
        items=(
            an_override(1, OverrideField.IMAGE_PROMPT, "a dog"),
            an_override(1, OverrideField.SEED, "42"),
            an_override(1, OverrideField.TAKE_FRAMES, "2"),
            an_override(0, OverrideField.DIALOGUE, "嗨"),
            an_override(9, OverrideField.DIALOGUE, "nobody"),
        )
    )
    wished = changes.apply(storyboard)
    assert (wished.shots[1].image_prompt, wished.shots[1].seed, wished.shots[0].dialogue) == ("a dog", 42, "嗨")
    assert wished.shots[0].image_prompt == "a cat plants a flower"
    assert len(wished.shots) == 2
    assert storyboard == build(TWO)


def test_the_latest_value_of_a_field_wins() -> None:
    """Two prompts for one shot: the later one is what the operator wants."""
    changes = Overrides(
        items=(an_override(0, OverrideField.IMAGE_PROMPT, "a dog"), an_override(0, OverrideField.IMAGE_PROMPT, "a bird"))
    )
    assert changes.apply(build(TWO)).shots[0].image_prompt == "a bird"


def test_takes_count_per_shot_and_stage() -> None:
    """Never asked anew is take 0."""
    changes = Overrides(items=(an_override(1, OverrideField.TAKE_FRAMES, "2"),))
    assert changes.take(1, OverrideField.TAKE_FRAMES) == 2
    assert changes.take(0, OverrideField.TAKE_FRAMES) == 0
    assert changes.take(1, OverrideField.TAKE_CLIPS) == 0


@pytest.mark.parametrize("length", [0, 999, 30_001, 41_000])
def test_a_shot_longer_or_shorter_than_any_clip_is_refused_by_number(length: int) -> None:
    """NarratoAI #42: times past the end of the media are rejected with the shot, not passed on to a paid call."""
    shot = {"seq": 0, "scene_desc": "s", "image_prompt": "p", "duration_ms": length}
    with pytest.raises(InvalidAnswer) as invalid:
        build_storyboard({"title": "t", "shots": [shot]}, shot_ms=5_000)
    assert "shot 0: duration_ms" in invalid.value.problems


@pytest.mark.parametrize(
    ("dialogue", "narration", "spoken", "voice"),
    [
        ("（轻声）走吧。", "", "走吧。", "小明"),
        ("Run! [shouting]", "", "Run!", "小明"),
        ("（叹气）", "天黑了。", "天黑了。", ""),
        ("（叹气）", "", "", ""),
        ("", "（旁白）天黑了。", "天黑了。", ""),
    ],
)
def test_stage_directions_are_not_read_aloud(dialogue: str, narration: str, spoken: str, voice: str) -> None:
    """Asked for in the field (rikkahub #1463): brackets are for the actor, and a line of nothing else is no line."""
    shot = Shot(
        seq=0, scene_desc="x", dialogue=dialogue, narration=narration, speaker="小明", duration_ms=5_000, image_prompt="x"
    )
    assert (shot.spoken, shot.voice_of) == (spoken, voice)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"dialogue": "你好", "speaker": "小猫"}, ("再见", "", "小猫")),
        ({"narration": "月亮升起来了"}, ("", "再见", "")),
        ({}, ("", "再见", "")),
    ],
)
def test_new_words_are_said_by_whoever_spoke_before(before: dict[str, str], after: tuple[str, str, str]) -> None:
    """A redo of a narrated shot must not put its words into a mouth: narration stays narration, a silent shot is narrated."""
    shot = {"seq": 0, "scene_desc": "s", "image_prompt": "i", **before}
    changed = (
        Overrides(items=(an_override(0, OverrideField.SPOKEN, "再见"),)).apply(build({"title": "t", "shots": [shot]})).shots[0]
    )
    assert (changed.dialogue, changed.narration, changed.voice_of) == after
