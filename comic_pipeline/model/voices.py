"""Which voice speaks for whom: every speaker of a project has a voice of their own and keeps it.

Belongs here: what is known of a person and of a voice, and the choice. Does not: the voices that services have
(`providers/catalog_voice.py`), who is one person (`cast.py`), remembering the choice (`store/voice_cast.py`).
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from comic_pipeline.model.storyboard import Storyboard

NARRATOR = ""


class Gender(StrEnum):
    """How a person or a voice is heard."""

    FEMALE = "female"
    MALE = "male"


class Age(StrEnum):
    """How old a person or a voice is heard to be."""

    CHILD = "child"
    YOUNG = "young"
    GROWN = "grown"
    OLD = "old"


@dataclass(frozen=True)
class Voice:
    """A voice that a service has, by its own name for it; gender None: it passes for either."""

    name: str
    gender: Gender | None = None
    age: Age = Age.GROWN


@dataclass(frozen=True)
class Person:
    """Somebody who speaks, and what the storyboard says of them; None: nothing. The narrator is NARRATOR, an empty name."""

    name: str
    gender: Gender | None = None
    age: Age | None = None


def cast_voices(people: Sequence[Person], voices: Sequence[Voice], kept: Mapping[str, str]) -> dict[str, str]:
    """A voice name for each of the people. Who is in `kept` with a voice that still exists keeps it, whoever else comes or goes.

    The first voice is the narrator's alone, if there are more. Others get, in the order given: a voice that nobody has yet, of
    their gender, of their age, the first such one. Raises ValueError without voices.
    """
    if not voices:
        raise ValueError("there are no voices to choose from")
    names = {voice.name for voice in voices}
    cast = {name: voice for name, voice in kept.items() if voice in names}
    others = voices[1:] or voices
    for person in people:
        if person.name in cast:
            continue
        if person.name == NARRATOR:
            cast[NARRATOR] = voices[0].name
            continue
        uses = Counter(cast.values())
        cast[person.name] = min(others, key=lambda voice: (uses[voice.name], *_misfit(person, voice))).name
    return {person.name: cast[person.name] for person in people}


def people_of(storyboard: Storyboard) -> tuple[Person, ...]:
    """Everybody who speaks, in order of their first line, the narrator among them."""
    names = dict.fromkeys(shot.voice_of for shot in storyboard.shots if shot.spoken)
    return tuple(_describe(name, storyboard, others=set(names) - {name, NARRATOR}) for name in names)


def _misfit(person: Person, voice: Voice) -> tuple[int, int]:
    ages = list(Age)
    gender = int(None not in (person.gender, voice.gender) and person.gender is not voice.gender)
    return gender, abs(ages.index(person.age or Age.GROWN) - ages.index(voice.age))


# Signs of gender and age: Chinese words as they are, English ones as whole words.
_FEMALE = (
    "女 姑娘 姐 妹 妈 母亲 奶奶 外婆 姥姥 婆婆 老太 阿姨 婶 嫂 妻 公主 皇后 太太 她",
    "woman girl lady female mother mom mum grandmother grandma queen princess sister daughter wife aunt mrs ms miss she her",
)
_MALE = (
    "男 先生 哥 弟 爸 父亲 爷爷 外公 姥爷 老头 大爷 叔 伯 丈夫 王子 国王 公子 他",
    "man boy gentleman male father dad grandfather grandpa king prince brother son husband uncle mr he his him",
)
_AGES: dict[Age, tuple[str, str]] = {
    Age.CHILD: ("女孩 男孩 孩子 小孩 儿童 宝宝 小朋友", "child kid boy girl baby toddler"),
    Age.OLD: (
        "老人 老头 老太 老奶奶 老爷爷 爷爷 奶奶 外婆 外公 姥姥 姥爷 大爷 白发",
        "old elderly aged grandmother grandma grandfather grandpa",
    ),
    Age.YOUNG: ("少年 少女 青年 年轻", "young teen teenage teenager youth"),
}
_CLAUSE_END = re.compile(r"[。！？；\n.!?;]")
# "others" and "the other" name nobody.
_EMPTY_WORDS = re.compile(r"其他|其它|他人")


def _describe(name: str, storyboard: Storyboard, *, others: Iterable[str]) -> Person:
    if name == NARRATOR:
        return Person(name)
    # What the name itself says (外婆, Mrs. Brown) weighs more than what is written around it.
    texts = [name] if _signs(name, _FEMALE) != _signs(name, _MALE) else [name, *_clauses_about(name, storyboard, others)]
    female, male = (sum(_signs(text, words) for text in texts) for words in (_FEMALE, _MALE))
    gender = None if female == male else Gender.FEMALE if female > male else Gender.MALE
    about = [name, *_clauses_about(name, storyboard, others)]
    age = next((age for age, words in _AGES.items() if any(_signs(text, words) for text in about)), None)
    return Person(name, gender=gender, age=age)


def _clauses_about(name: str, storyboard: Storyboard, others: Iterable[str]) -> list[str]:
    """The clauses of scenes and pictures that name this person and no other speaker."""
    strangers = [other for other in others if other not in name]
    clauses = [
        clause
        for shot in storyboard.shots
        for text in (shot.scene_desc, shot.image_prompt)
        for clause in _CLAUSE_END.split(text)
        if name in clause and not any(other in clause for other in strangers)
    ]
    return [clause.replace(name, " ") for clause in dict.fromkeys(clauses)]


def _signs(text: str, words: tuple[str, str]) -> int:
    plain = _EMPTY_WORDS.sub("", text)
    chinese, english = (part.split() for part in words)
    found = re.findall(r"[a-z]+", plain.lower())
    return sum(plain.count(word) for word in chinese) + sum(found.count(word) for word in english)
