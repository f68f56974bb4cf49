"""What users may ask for: text, choices, ids, sizes."""

import unicodedata
from typing import Any

import pytest
from pydantic import ValidationError

from comic_pipeline.model.errors import ErrorCode, Refused
from comic_pipeline.model.project import (
    BUCKETS,
    Aspect,
    DurationBucket,
    Frame,
    Language,
    ProjectKind,
    RawProduceRequest,
    Resolution,
    check_project_id,
    detect_language,
    film_size,
    find_style,
)
from comic_pipeline.model.style import STYLES


def refusal(**fields: Any) -> Refused:
    """Why such a request is refused."""
    with pytest.raises(Refused) as refused:
        RawProduceRequest(**fields).checked()
    assert refused.value.code is ErrorCode.INPUT_INVALID
    return refused.value


@pytest.mark.parametrize("idea", ["", " ", "\n\t \r\n", "\u3000\u3000", "。。。", "?!", "\u200b\u200d", "---"])
def test_an_idea_without_a_word_is_refused(idea: str) -> None:
    """Whitespace of any kind, punctuation and invisible characters say nothing about a film."""
    assert "idea is empty" in refusal(idea=idea).detail


@pytest.mark.parametrize("idea", ["🐱🌙", "👩‍🚀", "猫", "7", "€", "a"])
def test_one_sign_with_a_meaning_is_enough(idea: str) -> None:
    """An idea of emoji only is an idea, joined emoji included."""
    assert RawProduceRequest(idea=idea).checked().idea == idea


def test_an_idea_may_have_2000_characters_and_no_more() -> None:
    """The limit is counted after trimming and names both numbers."""
    assert len(RawProduceRequest(idea=f"  {'猫' * 2_000}  ").checked().idea) == 2_000
    for length in (2_001, 5_000):
        detail = refusal(idea="猫" * length).detail
        assert f"idea has {length} characters, at most 2000" in detail


def test_a_script_may_be_longer_than_an_idea_and_wins_over_it() -> None:
    """20,000 characters; with a script the idea may be missing, and the film is made from the script."""
    asked = RawProduceRequest(idea="猫", script="A dog. " * 1_000).checked()
    assert (asked.kind, asked.language) == (ProjectKind.SCRIPT, Language.EN)
    assert RawProduceRequest(idea="猫").checked().kind is ProjectKind.IDEA
    assert "script has 20001 characters" in refusal(script="x" * 20_001).detail


def test_a_script_without_a_word_does_not_replace_the_idea() -> None:
    """Dots are not a script: they would go to the model as the whole story."""
    assert "script is empty" in refusal(script="……").detail
    assert "idea is empty" in refusal(script="  ").detail


@pytest.mark.parametrize("char", ["\x00", "\x07", "\x1b", "\x7f", "\x9b"])
def test_control_characters_are_refused_by_number(char: str) -> None:
    """Something else than text was sent; NUL cannot even be stored in Postgres."""
    detail = refusal(idea=f"a cat{char} on the moon").detail
    assert f"U+{ord(char):04X}" in detail


def test_lines_and_tabs_stay_and_line_ends_become_one_kind() -> None:
    """Windows and old Mac line ends are the same text."""
    assert RawProduceRequest(idea=" a\r\nb\rc\td\n").checked().idea == "a\nb\nc\td"


def test_equal_text_in_two_spellings_is_one_text() -> None:
    """NFC: the same idea typed on another keyboard must not make a second film."""
    composed, decomposed = "caf\u00e9", unicodedata.normalize("NFD", "caf\u00e9")
    assert composed != decomposed
    assert RawProduceRequest(idea=decomposed).checked() == RawProduceRequest(idea=composed).checked()


def test_a_lone_surrogate_is_refused() -> None:
    """It is no character and cannot be encoded: JSON may bring it in as an escape."""
    assert "U+D800" in refusal(idea="cat \ud800").detail


@pytest.mark.parametrize(
    ("field", "value", "choices"),
    [
        ("style", "baroque", ["healing (治愈系动漫)", "fantasy (奇幻冒险)"]),
        ("duration", "feature", ["short_15", "long_120"]),
        ("aspect", "4:3", ["16:9", "9:16", "1:1"]),
        ("resolution", "8k", ["720p", "1080p"]),
    ],
)
def test_an_unknown_choice_names_the_value_and_the_choices(field: str, value: str, choices: list[str]) -> None:
    """The refusal says what would be right."""
    detail = refusal(idea="a cat", **{field: value}).detail
    assert f"{field} '{value}'" in detail
    assert all(choice in detail for choice in choices)


def test_a_choice_of_kilobytes_is_not_repeated_in_full() -> None:
    """Rejected values go to logs and rows: they are cut, or refused by size."""
    with pytest.raises(ValidationError, match="at most 200"):
        RawProduceRequest(idea="a cat", style="x" * 201)
    assert len(refusal(idea="a cat", aspect="x" * 200).detail) < 200


@pytest.mark.parametrize("style", STYLES.values(), ids=lambda style: style.key)
def test_a_style_is_found_by_key_and_by_chinese_name(style: Any) -> None:
    """Users know 治愈系动漫, programs know healing."""
    assert find_style(style.key) is style
    assert find_style(style.zh) is style


def test_a_request_without_choices_gets_the_usual_ones() -> None:
    """Fifteen seconds, wide, 720p, healing."""
    asked = RawProduceRequest(idea="一只小猫").checked()
    assert (asked.style.key, asked.duration, asked.aspect, asked.resolution, asked.language) == (
        "healing",
        DurationBucket.SHORT_15,
        Aspect.WIDE,
        Resolution.HD,
        Language.ZH,
    )


def test_unknown_fields_are_refused() -> None:
    """A misspelt field would otherwise be ignored, and the film be another one than was asked for."""
    with pytest.raises(ValidationError, match="durration"):
        RawProduceRequest.model_validate({"idea": "a cat", "durration": "long_120"})


@pytest.mark.parametrize("value", ["p", "p-1_A", "0" * 63, "-", "_"])
def test_project_ids_that_can_be_partition_keys(value: str) -> None:
    """Letters, digits, dash and underscore, up to 63."""
    assert check_project_id(value) == value


@pytest.mark.parametrize("value", ["", "0" * 64, "a b", "a/b", "../x", "猫", "a.b", "a\n", "a\x00", "a,b", "a'b", "\ud800"])
def test_project_ids_that_cannot(value: str) -> None:
    """They become partition keys, folders and tags. A line end after a good id is not a good id."""
    with pytest.raises(Refused) as refused:
        check_project_id(value)
    assert refused.value.code is ErrorCode.INPUT_INVALID
    assert refused.value.detail.isprintable()


@pytest.mark.parametrize(
    ("text", "language"), [("cat", "en"), ("a 猫", "zh"), ("🐱", "en"), ("ねこ", "en"), ("", "en"), ("㐀", "zh")]
)
def test_one_chinese_character_makes_the_film_chinese(text: str, language: str) -> None:
    """Everything else is told in English."""
    assert detect_language(text) == language


@pytest.mark.parametrize("resolution", Resolution)
@pytest.mark.parametrize("aspect", Aspect)
def test_every_film_size_has_the_asked_shape_and_even_sides(aspect: Aspect, resolution: Resolution) -> None:
    """The shorter side is the resolution's number; yuv420p needs even sides."""
    size = film_size(aspect, resolution)
    wide, high = map(int, aspect.value.split(":"))
    assert size.width * high == size.height * wide
    assert min(size.width, size.height) == int(resolution.value[:-1])
    assert size.width % 2 == size.height % 2 == 0
    assert film_size(Aspect.TALL, Resolution.FULL_HD) == Frame(width=1080, height=1920)


@pytest.mark.parametrize(("bucket", "seconds"), [("short_15", 15), ("short_30", 30), ("medium_60", 60), ("long_120", 120)])
def test_a_bucket_is_as_long_as_it_says(bucket: str, seconds: int) -> None:
    """Number of shots times their length."""
    plan = BUCKETS[DurationBucket(bucket)]
    assert plan.shots * plan.shot_ms == seconds * 1_000
