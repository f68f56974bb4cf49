"""Finding the document in a model's answer without changing what it says."""

import json

import pytest

from comic_pipeline.model.errors import ErrorCode, InvalidAnswer
from comic_pipeline.model.storyboard import build_storyboard
from comic_pipeline.providers.json_answer import MAX_CHARS, parse_json_answer

DOCUMENT = {"title": "月猫", "shots": [{"seq": 0, "text": "a, b: {c} [d] “e” 'f' // g ```"}]}
PLAIN = json.dumps(DOCUMENT, ensure_ascii=False)


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        f"\ufeff  {PLAIN}\n",
        f"```json\n{PLAIN}\n```",
        f"```\n{PLAIN}\n```",
        f"Here is the storyboard [1] you asked for:\n\n{PLAIN}\n\nI hope {{you}} like it.",
        f"```json\n{PLAIN}",
        PLAIN.replace("}]}", "},],}"),
        PLAIN.replace('"title"', "title").replace('"shots"', " shots "),
        PLAIN.replace('"title"', "'title'").replace('"seq"', "'seq'"),
        PLAIN.replace('"title"', "“title”").replace('"shots"', "”shots”"),
        PLAIN.replace('"月猫"', "“月猫”"),
        PLAIN.replace('"title":', '"title"：').replace(', "shots"', '， "shots"'),
        json.dumps(DOCUMENT, indent=4),
        PLAIN.replace('{"title"', '{"title": "a first try", "title"'),
        json.dumps(DOCUMENT, indent=4).replace(",\n", ", // it's the {name}\n"),
        PLAIN.replace('": ', '": /* a "note" ] */ ').replace("}]}", "}, // the last, really\n]} // done"),
        PLAIN.replace('"title": "', '"title":\u00a0"').replace('"shots"', '\u3000"shots"'),
        f"<think>I could write {PLAIN[:-2]}, {{}}, {{}}, {{}}]}} but no.</think>\n\n{PLAIN}",
        f'So the user wants {{"title", then {PLAIN[:-2]}, {{}}, {{}}, {{}}]}}\n</think>\n```json\n{PLAIN}\n```',
    ],
)
def test_fence_prose_and_trailing_commas_do_not_fail_the_run(text: str) -> None:
    """NarratoAI PR#266, #171, #87: what models put around and between is tolerated; the document is what was meant."""
    assert parse_json_answer(text) == DOCUMENT


def test_the_tag_that_ends_thoughts_is_a_word_like_any_other_inside_the_document() -> None:
    """Only what comes before the document is thought."""
    said = {"title": "a", "shots": [{"dialogue": "</think> {b}"}]}
    for text in (json.dumps(said), f"```json\n{json.dumps(said)}\n```"):
        assert parse_json_answer(text) == said


@pytest.mark.parametrize("text", ['<think>{"title": "draft", "shots": []}</think>', "<think>it is late</think> \n"])
def test_thoughts_without_an_answer_are_no_answer(text: str) -> None:
    """A draft that was thought and not given must not become a film."""
    with pytest.raises(InvalidAnswer, match="empty"):
        parse_json_answer(text)


def test_fenced_list_with_trailing_comma_is_read() -> None:
    """NarratoAI PR#266, the very case: a fenced list that ends in a comma."""
    assert parse_json_answer('```json\n[{"seq": 0},]\n```') == [{"seq": 0}]


def test_wrapper_stays_for_the_storyboard_to_open() -> None:
    """NarratoAI PR#266: `{"items": [...]}` is the storyboard's business; the answer keeps it and the storyboard reads it."""
    shot = {"scene_desc": "moon", "image_prompt": "a cat"}
    document = parse_json_answer("```json\n" + json.dumps({"items": [shot]})[:-2] + ",]}\n```")
    assert document == {"items": [shot]}
    assert build_storyboard(document, shot_ms=5_000).shots[0].scene_desc == "moon"


def test_key_quoting_repair_does_not_corrupt_timestamps() -> None:
    """NarratoAI PR#266: the repair of an unquoted key must not touch the time in the string beside it."""
    text = '{timestamp: "00:00:01,000-00:00:02,000", note: "key: value, }", "last": 1,}'
    assert parse_json_answer(text) == {"timestamp": "00:00:01,000-00:00:02,000", "note": "key: value, }", "last": 1}


@pytest.mark.parametrize(
    "inside",
    [
        "a,}",
        "a,]",
        "{key: 1}",
        "‘quoted’ key: x",
        "“引号”：，",
        '\\"escaped\\", b: 2',
        "\\\\",
        "C:\\\\dir",
        "```json",
        "\\u4f60",
        "line\nbreak",
        "http://a/b // c",
        "/* x */",
        "a\u3000b",
    ],
)
def test_repair_never_touches_the_inside_of_a_string(inside: str) -> None:
    """Whatever a string holds comes out as plain JSON would read it, in a document that needs repair elsewhere."""
    expected = json.loads(f'"{inside}"', strict=False)
    assert parse_json_answer(f'{{bare: 1, "text": "{inside}", "list": ["{inside}",],}}') == {
        "bare": 1,
        "text": expected,
        "list": [expected],
    }


def test_largest_document_wins() -> None:
    """A model that shows a small example before its answer means the answer."""
    assert parse_json_answer(f'Format: {{"seq": 0}} and here: {PLAIN} and {{}}') == DOCUMENT


def test_smart_quoted_value_keeps_its_words() -> None:
    """Quotes and escapes inside a smart-quoted value survive."""
    assert parse_json_answer('{“say”: “he said "hi"\\n{ok}”, “n”: 1}') == {"say": 'he said "hi"\n{ok}', "n": 1}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "empty"),
        ("   \n", "empty"),
        ("Here are the rules: be kind.", "no JSON document"),
        ('"just a string"', "no JSON document"),
        ("42", "no JSON document"),
        ('{"title": "x", "shots": [{"seq": 0', "cut short"),
        ('{"title": "x', "cut short"),
        ("[" * 100_000, "too deep"),
        ("[" * 70 + "]" * 70, "too deep"),
        ("{" * 1_000 + "}" * 1_000, "too deep"),
        ('{"a": NaN}', "not valid"),
        ('{"a": -Infinity}', "not valid"),
        ('{"a": "\\ud83d"}', "not valid"),
        ('{"a": ' + "9" * 5_000 + "}", "not valid"),
        ('{"a" "b"}', "not valid"),
        ('{"he said "no" twice": 1}', "not valid"),
        ("x" * (MAX_CHARS + 1), "too long"),
    ],
)
def test_answer_without_a_document_says_what_to_mend(text: str, told: str) -> None:
    """Prose is one typed error with words for the repair round, so only this phase is asked again (waooAI #136)."""
    with pytest.raises(InvalidAnswer) as caught:
        parse_json_answer(text)
    assert caught.value.code is ErrorCode.SCRIPT_INVALID
    assert told in caught.value.problems
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    "text",
    [
        "{ " * 60 + "x" * 400_000,
        "[" * 400_000,
        '{"a": ' * 60 + '"' + "x" * 400_000,
        '{"' * 200_000,
        "{“" * 200_000,
        "{a" * 200_000,
        "{" + "a," * 200_000 + "}",
        "{" + "“" * 400_000 + "}",
        "{" + "a" * 400_000 + "}",
        "{" + ", " * 200_000 + "}",
        "{" + "/*," * 20_000 + "}",
        "{" + ",//" * 20_000 + "}",
    ],
    ids=range(12),
)
@pytest.mark.timeout(30)
def test_hostile_answer_is_refused_quickly(text: str) -> None:
    """A JSON bomb must not hold a worker: half a million characters are answered in seconds."""
    with pytest.raises(InvalidAnswer):
        parse_json_answer(text)


@pytest.mark.parametrize("text", ["{}" * 200_000, "{" + "," + " " * 400_000 + "}"], ids=range(2))
@pytest.mark.timeout(30)
def test_long_answer_of_nothing_is_read_quickly(text: str) -> None:
    """Many small documents, or a long way to the closing bracket, cost one pass."""
    assert parse_json_answer(text) == {}
