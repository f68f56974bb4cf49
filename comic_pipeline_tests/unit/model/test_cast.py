"""One person, one name; the narrator is nobody on screen."""

import pytest

from comic_pipeline.model.cast import merge_names, settle_cast
from comic_pipeline.model.storyboard import Shot, Storyboard


def a_shot(seq: int, speaker: str, *, dialogue: str = "Hello.", narration: str = "") -> Shot:
    """A shot in which somebody speaks."""
    return Shot(
        seq=seq,
        scene_desc="a room",
        dialogue=dialogue,
        narration=narration,
        speaker=speaker,
        duration_ms=5_000,
        image_prompt="a room",
    )


def test_one_person_under_three_names_gets_one_voice() -> None:
    """alexandria-audiobook #2: "John", "Cavendish" and "Mr. Cavendish" are John Cavendish, once his full name occurs."""
    names = ["John", "Cavendish", "Mr. Cavendish", "John Cavendish", "Mary"]
    assert merge_names(names) == {
        "John": "John Cavendish",
        "Cavendish": "John Cavendish",
        "Mr. Cavendish": "John Cavendish",
        "John Cavendish": "John Cavendish",
        "Mary": "Mary",
    }


def test_a_title_alone_makes_no_other_person() -> None:
    """Without the full name, title and plain name are still the same person; the longer spelling is kept."""
    assert merge_names(["Cavendish", "Mr. Cavendish"]) == {"Cavendish": "Mr. Cavendish", "Mr. Cavendish": "Mr. Cavendish"}


def test_chinese_titles_are_titles() -> None:
    """王 and 王先生 are one person; 小猫 is nobody else."""
    assert merge_names(["王明", "王明先生", "小猫"]) == {"王明": "王明先生", "王明先生": "王明先生", "小猫": "小猫"}


def test_a_word_that_could_be_two_people_merges_with_neither() -> None:
    """With two Johns, "John" alone stays himself: a wrong voice is worse than one voice more."""
    merged = merge_names(["John", "John Cavendish", "John Brown"])
    assert merged == {"John": "John", "John Cavendish": "John Cavendish", "John Brown": "John Brown"}


@pytest.mark.parametrize("name", ["I", "Narrator", "旁白", "我", "voice over"])
def test_what_the_narrator_says_is_narration(name: str) -> None:
    """alexandria-audiobook #2, narrator = "I": no person of that name gets a portrait or a voice."""
    (shot,) = settle_cast(Storyboard(title="t", shots=(a_shot(0, name, dialogue="Once upon a time."),))).shots
    assert (shot.dialogue, shot.narration, shot.speaker) == ("", "Once upon a time.", "")


def test_names_are_settled_over_the_whole_storyboard() -> None:
    """The full name may come last."""
    board = Storyboard(title="t", shots=(a_shot(0, "John"), a_shot(1, "Mary"), a_shot(2, "John Cavendish")))
    assert [shot.speaker for shot in settle_cast(board).shots] == ["John Cavendish", "Mary", "John Cavendish"]
