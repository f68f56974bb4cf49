"""Who speaks with which voice: distinct, fitting, and kept."""

import pytest

from comic_pipeline.model.storyboard import Shot, Storyboard
from comic_pipeline.model.voices import NARRATOR, Age, Gender, Person, Voice, cast_voices, people_of
from comic_pipeline.providers.catalog_voice import OPENAI_VOICES, openspeech_voices, read_voices
from comic_pipeline.providers.offline.voice import OFFLINE_VOICES

F, M = Gender.FEMALE, Gender.MALE
MENU = (
    Voice("narrator", F),
    Voice("woman", F),
    Voice("man", M),
    Voice("girl", F, Age.CHILD),
    Voice("grandpa", M, Age.OLD),
)
CATALOGS = {
    "offline": OFFLINE_VOICES,
    "openai": OPENAI_VOICES,
    "v1": openspeech_voices("volcano_tts", one_shot=True),
    "v3": openspeech_voices("seed-tts-2.0", one_shot=False),
}


def board(*shots: tuple[str, str, str]) -> Storyboard:
    """Shots of (speaker, scene, picture); without a speaker the narrator speaks."""
    return Storyboard(
        title="t",
        shots=tuple(
            Shot(
                seq=seq,
                scene_desc=scene,
                dialogue="Hello." if speaker else "",
                narration="" if speaker else "Once.",
                speaker=speaker,
                duration_ms=5_000,
                image_prompt=picture,
            )
            for seq, (speaker, scene, picture) in enumerate(shots)
        ),
    )


@pytest.mark.parametrize("menu", CATALOGS.values(), ids=CATALOGS.keys())
def test_every_speaker_has_a_voice_of_their_own(menu: tuple[Voice, ...]) -> None:
    """As many speakers as the service has voices, the narrator among them."""
    people = [Person(NARRATOR), *(Person(f"p{number}") for number in range(len(menu) - 1))]
    cast = cast_voices(people, menu, {})
    assert len(set(cast.values())) == len(people)
    assert cast[NARRATOR] == menu[0].name
    assert cast == cast_voices(people, menu, {})


def test_a_voice_fits_the_person_as_far_as_it_is_free() -> None:
    """Gender before age; the second woman gets the other woman's voice; a distinct voice before a fitting one."""
    people = [Person("奶奶", F, Age.OLD), Person("爷爷", M, Age.OLD), Person("妞妞", F, Age.CHILD), Person("爸爸", M)]
    assert cast_voices(people, MENU, {}) == {"奶奶": "woman", "爷爷": "grandpa", "妞妞": "girl", "爸爸": "man"}
    men = [Person(name, M) for name in "abcde"]
    assert list(cast_voices(men, MENU, {}).values()) == ["man", "grandpa", "woman", "girl", "man"]


def test_earlier_speakers_keep_their_voices_when_the_cast_grows_or_shrinks() -> None:
    """A new first speaker would otherwise move everybody's voice by one, in the middle of a project."""
    first = cast_voices([Person("小明", M), Person("小红", F)], MENU, {})
    grown = cast_voices([Person("新人", M), Person(NARRATOR), Person("小红", F), Person("小明", M)], MENU, first)
    assert {name: grown[name] for name in first} == first
    assert len(set(grown.values())) == 4
    returned = cast_voices([Person("小明", M)], MENU, first | grown)
    assert returned == {"小明": first["小明"]}


def test_the_narrator_is_nobody_else() -> None:
    """The first voice is free for the narrator even when he speaks first in a later version."""
    people = [Person(name) for name in "abcd"]
    assert "narrator" not in cast_voices(people, MENU, {}).values()


def test_one_configured_voice_speaks_for_everybody() -> None:
    """The operator's choice; so is a list that is shorter than the cast."""
    assert cast_voices([Person(NARRATOR), Person("a"), Person("b")], MENU[:1], {}) == {
        NARRATOR: "narrator",
        "a": "narrator",
        "b": "narrator",
    }
    two = cast_voices([Person(NARRATOR), Person("a"), Person("b")], MENU[:2], {})
    assert two == {NARRATOR: "narrator", "a": "woman", "b": "woman"}


def test_a_voice_that_is_no_longer_there_is_replaced() -> None:
    """A new list in the settings, or another service generation: only who lost the voice gets another."""
    assert cast_voices([Person("a", M), Person("b", F)], MENU, {"a": "man", "b": "gone"}) == {"a": "man", "b": "woman"}


def test_no_voices_is_an_error() -> None:
    """A film without a voice must not come of a wrong setting."""
    with pytest.raises(ValueError, match="no voices"):
        cast_voices([Person("a")], (), {})


def test_a_configured_list_is_read_with_what_is_known_of_each_voice() -> None:
    """From the catalog, else from the vendor's way of naming."""
    assert read_voices(" onyx, zh_female_x_uranus_bigtts ,zh_male_y_tob,S_123,onyx,") == (
        Voice("onyx", M),
        Voice("zh_female_x_uranus_bigtts", F),
        Voice("zh_male_y_tob", M),
        Voice("S_123"),
    )
    assert read_voices(" , ") == ()


def test_everybody_who_speaks_is_a_person_in_order_of_their_first_line() -> None:
    """The narrator has an empty name; who says nothing is nobody."""
    silent = board(("旁人", "a street", "a man")).shots[0].model_copy(update={"dialogue": "", "seq": 3})
    story = board(("小红", "街上", "x"), ("", "街上", "x"), ("小红", "家里", "x"))
    story = story.model_copy(update={"shots": (*story.shots, silent)})
    assert [person.name for person in people_of(story)] == ["小红", NARRATOR]


@pytest.mark.parametrize(
    ("speaker", "scene", "picture", "gender", "age"),
    [
        ("外婆", "厨房", "a kitchen", F, Age.OLD),
        ("Mr. Fox", "a forest", "a fox with her cubs", M, None),
        ("小雨", "雨夜，小雨撑着伞", "小雨，十六岁的少女，红色雨衣。一个男人走过", F, Age.YOUNG),
        ("Tom", "Tom waits.", "Tom, an old man with white hair, on a bench; a girl runs by", M, Age.OLD),
        ("Ada", "the others watch Ada", "Ada, a little girl in yellow", F, Age.CHILD),
        ("小猫", "月球上，小猫种花", "a white kitten plants flowers", None, None),
        ("阿明", "阿明和其他人在车站", "阿明，车站", None, None),
        ("小李", "一男一女，小李在中间", "x", None, None),
    ],
)
def test_what_the_storyboard_says_of_a_person_is_heard(
    speaker: str, scene: str, picture: str, gender: Gender | None, age: Age | None
) -> None:
    """Signs count in the name, else in the clauses that name this person; contradictions and nothing mean unknown."""
    (person,) = people_of(board((speaker, scene, picture)))
    assert (person.gender, person.age) == (gender, age)


def test_a_clause_about_two_speakers_says_nothing_of_either() -> None:
    """Tom's hat in a clause about both must not make Ada a man."""
    ada, tom = people_of(board(("Ada", "Ada and Tom, his hat in hand", "Ada, a woman"), ("Tom", "Tom alone, a man", "x")))
    assert (ada.gender, tom.gender) == (F, M)
