"""The storyteller that needs no network: one idea or script in, the storyboard JSON of a model out.

Belongs here: `OfflineText` and how a story is put together from the idea's own words and a phrase book. Does not: reading
the idea (`story_words.py`), the script (`story_script.py`), the phrases (`story_arc*.py`), checking the storyboard
(`model/storyboard.py`).
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from comic_pipeline.model.errors import ErrorCode, ProviderFault
from comic_pipeline.model.project import Language
from comic_pipeline.model.style import STYLES, Style
from comic_pipeline.providers.interface import Done, Go, Inline, JsonObject, StorySubject, TextRequest, at_once
from comic_pipeline.providers.offline import AnswersAtOnce
from comic_pipeline.providers.offline.story_arc import Beat, Line, PhraseBook, plan_beats
from comic_pipeline.providers.offline.story_arc_en import BOOK as ENGLISH
from comic_pipeline.providers.offline.story_arc_zh import BOOK as CHINESE
from comic_pipeline.providers.offline.story_chance import Chance
from comic_pipeline.providers.offline.story_premise import Premise
from comic_pipeline.providers.offline.story_script import (
    ScriptLine,
    clean_spoken,
    deal_out,
    read_script,
    room_for_speech,
    script_title,
    shorten,
    speech_size,
)
from comic_pipeline.providers.offline.story_words import read_premise, short_name

# Wide, medium, near: how the camera changes from shot to shot; the last shot is wide.
_NEARNESS = (0, 1, 2, 1, 0, 2, 1)


class OfflineText(AnswersAtOnce):
    """Writes storyboards. The same subject always gives the same story; a repair round therefore gives it again."""

    name = "offline_text"
    model = "offline-storyteller-1"
    base_url = "offline:"
    asynchronous = False
    offline = True

    def describe(self, request: TextRequest) -> JsonObject:
        """Everything that decides the story. Raises ProviderFault(INPUT_INVALID) for an unknown style or no shots."""
        subject = request.subject
        _style_of(subject)
        return {
            "model": self.model,
            "idea": subject.idea,
            "script": subject.script,
            "style": subject.style_key,
            "language": subject.language.value,
            "shots": subject.shots,
            "shot_ms": subject.shot_ms,
        }

    def estimate(self, request: TextRequest) -> Decimal:  # noqa: ARG002 - the provider protocol's signature
        """Nothing: no one is paid."""
        return Decimal(0)

    async def submit(self, request: TextRequest, *, go: Go = at_once) -> Done:
        """The storyboard as UTF-8 JSON. Raises ProviderFault(INPUT_INVALID) for an unknown style or no shots."""
        await go()
        document = write_story(request.subject)
        data = json.dumps(document, ensure_ascii=False, indent=1).encode()
        return Done(output=Inline(data), usage={}, cost=Decimal(0))


def write_story(subject: StorySubject) -> JsonObject:
    """`{"title", "shots": […]}` with exactly `subject.shots` shots of `subject.shot_ms` milliseconds.

    Raises ProviderFault(INPUT_INVALID) for an unknown style or less than one shot.
    """
    style = _style_of(subject)
    teller = _Teller.of(subject, style=style)
    lines = read_script(subject.script)
    if lines:
        title, told = teller.retell(subject.script, shots=subject.shots)
    else:
        title, told = teller.title(), teller.tell(plan_beats(subject.shots))
    moves = teller.moves(subject.shots)
    nearness = [teller.book.framings[near] for near in _plan_nearness(subject.shots)]
    return {
        "title": title,
        "shots": [
            {
                "seq": seq,
                "scene_desc": shot.scene,
                "dialogue": shot.spoken if shot.speaker else "",
                "narration": "" if shot.speaker else shot.spoken,
                "speaker": shot.speaker,
                "duration_ms": subject.shot_ms,
                "image_prompt": teller.picture(shot.scene, framing=nearness[seq]),
                "motion_prompt": moves[seq],
            }
            for seq, shot in enumerate(told)
        ],
    }


def _style_of(subject: StorySubject) -> Style:
    style = STYLES.get(subject.style_key)
    if style is None:
        raise ProviderFault(
            ErrorCode.INPUT_INVALID, f"offline_text has no style {subject.style_key!r}; one of: {', '.join(STYLES)}"
        )
    if subject.shots < 1:
        raise ProviderFault(ErrorCode.INPUT_INVALID, f"offline_text cannot write {subject.shots} shots; at least 1")
    return style


def _plan_nearness(shots: int) -> list[int]:
    near = [_NEARNESS[seq % len(_NEARNESS)] for seq in range(shots)]
    return [*near[:-1], 0] if shots > 3 else near


@dataclass(frozen=True)
class _Told:
    """One shot in words; `speaker` is empty when the narrator speaks."""

    scene: str
    speaker: str
    spoken: str


@dataclass(frozen=True)
class _Teller:
    """All that stays the same through one story."""

    book: PhraseBook
    style: Style
    language: Language
    premise: Premise
    words: Mapping[str, str]
    room: int
    key: tuple[str, ...]

    @classmethod
    def of(cls, subject: StorySubject, *, style: Style) -> "_Teller":
        language = subject.language
        book = CHINESE if language is Language.ZH else ENGLISH
        key = (subject.idea, subject.script, style.key, language.value, str(subject.shots), str(subject.shot_ms))
        premise = read_premise(subject.idea or subject.script[:400], language=language)
        return cls(
            book=book,
            style=style,
            language=language,
            premise=premise,
            words=_complete(premise, book=book, style=style, language=language, chance=Chance("premise", *key)),
            room=room_for_speech(subject.shot_ms, language=language),
            key=key,
        )

    def title(self) -> str:
        """Holds the hero's name, so that a reader (and the artist) knows whom the film is about."""
        text = Chance("title", *self.key).pick(self.book.titles).format_map(self.words)
        return text if self.language is Language.ZH else _capitals(text)

    def moves(self, shots: int) -> list[str]:
        """A camera move a shot; two neighbours never have the same."""
        order = Chance("moves", *self.key).mixed(self.book.moves)
        return [order[seq % len(order)] for seq in range(shots)]

    def picture(self, scene: str, *, framing: str) -> str:
        """What a picture model is told. Place and light are always named, so that one story stays in one world."""
        zh = self.language is Language.ZH
        place = self.words["place"]
        where = [] if self.premise.place in scene and (self.premise.place or place in scene) else [f"在{place}" if zh else place]
        lit = [] if self.words["light"] in scene else [self.words["light"]]
        look = self.style.zh if zh else f"{self.style.en} style"
        return ("，" if zh else ", ").join((framing, scene, *where, *lit, look, self.style.picture_words))

    def tell(self, beats: Sequence[str]) -> list[_Told]:
        """The story along `beats`. Narrator and characters take turns; no line is said twice."""
        chance = Chance("story", *self.key)
        narrated_first = chance.likely(0.6)
        used: set[str] = set()
        told = []
        for seq, name in enumerate(beats):
            beat, words = self.book.beats[name], self._words_now(chance)
            event = self._event(seq, beats=beats)
            scene = self._scene(beat, words=words, event=event, chance=chance, used=used)
            narrated = (seq % 2 == 0) == narrated_first
            own = _sentence(event, language=self.language) if event and narrated else ""
            line = self._line(beat.lines, own=own, narrated=narrated, words=words, used=used, chance=chance)
            speaker = self.words[{"hero": "name", "friend": "friend"}[line.who]] if line.who else ""
            told.append(_Told(scene=scene, speaker=speaker, spoken=line.text))
        return told

    def retell(self, script: str, *, shots: int) -> tuple[str, list[_Told]]:
        """The script's own title, lines and scenes."""
        lines = read_script(script)
        dealt = deal_out(lines, shots=shots, room=self.room, language=self.language)
        title = script_title(script) or self._title_of(lines)
        return title, [_Told(scene=shot.scene, speaker=shot.who, spoken=shot.spoken) for shot in dealt]

    def _title_of(self, lines: Sequence[ScriptLine]) -> str:
        speaker = next((line.who for line in lines if line.who), "")
        if speaker:
            return f"{speaker}的故事" if self.language is Language.ZH else f"The Story of {speaker}"
        return shorten(lines[0].text, room=12 if self.language is Language.ZH else 6, language=self.language).rstrip("。.")

    def _words_now(self, chance: Chance) -> dict[str, str]:
        flavour = self.book.flavours[self.style.key]
        drawn = {"trouble": flavour.troubles, "turn": flavour.turns, "coda": flavour.codas}
        return {**self.words, **{slot: chance.pick(choices) for slot, choices in drawn.items()}}

    def _event(self, seq: int, *, beats: Sequence[str]) -> str:
        """The idea's own phrase for this shot: a short idea opens the story and brings the encounter, a long one goes on."""
        clauses = self.premise.clauses
        if len(clauses) > 2:
            at = seq * len(clauses) // len(beats)
            return clauses[at] if seq == 0 or at != (seq - 1) * len(clauses) // len(beats) else ""
        opening = next((clause for clause in clauses if self.premise.hero in clause and clause != self.premise.hero), "")
        if seq == 0:
            return opening
        meets = beats[seq] == "encounter" or (beats[seq] == "crisis" and "encounter" not in beats)
        met = self.premise.met
        return next((clause for clause in clauses if met in clause and clause != opening), "") if met and meets else ""

    def _scene(self, beat: Beat, *, words: Mapping[str, str], event: str, chance: Chance, used: set[str]) -> str:
        fresh = [scene for scene in chance.mixed(beat.scenes) if scene not in used] or list(beat.scenes)
        used.add(fresh[0])
        scene = fresh[0].format_map(words)
        joint = "，" if self.language is Language.ZH else "; "
        return f"{event[:60]}{joint}{scene}" if event else scene

    def _line(  # the parts of one decision, all by name
        self, lines: Sequence[Line], *, own: str, narrated: bool, words: Mapping[str, str], used: set[str], chance: Chance
    ) -> Line:
        """A line that fits and was not said before: the idea's `own` sentence first, else one of the wanted kind, else any."""
        filled = [Line(who=line.who, text=self._spoken(line.text, words)) for line in chance.mixed(lines)]
        filled = [Line(who="", text=own), *filled] if own else filled
        fitting = [line for line in filled if line.text not in used and 0 < self._size(line.text) <= self.room]
        if not fitting:
            told = next((line.text for line in filled if not line.who), "")
            return Line(who="", text=shorten(told, room=self.room, language=self.language))
        line = next((line for line in fitting if bool(line.who) != narrated), fitting[0])
        more = [other.text for other in fitting if other.who == line.who and other is not line]
        if not line.who:
            after = [self._spoken(text, words) for text in chance.mixed(self.book.after)]
            more = [words["coda"], *more] if words["coda"] in more else more + after
        return Line(who=line.who, text=self._lengthen(line.text, more, used=used))

    def _size(self, text: str) -> int:
        return speech_size(text, language=self.language)

    def _lengthen(self, text: str, more: Sequence[str], *, used: set[str]) -> str:
        """`text` and one more that fits, when it leaves half of the shot empty."""
        used.add(text)
        if self._size(text) > 0.5 * self.room:
            return text
        for other in more:
            longer = text + other if self.language is Language.ZH else f"{text} {other}"
            if other not in used and self._size(longer) <= self.room:
                used.add(other)
                return longer
        return text

    def _spoken(self, template: str, words: Mapping[str, str]) -> str:
        text = clean_spoken(template.format_map(words))
        return text if self.language is Language.ZH else text[:1].upper() + text[1:]


def _complete(premise: Premise, *, book: PhraseBook, style: Style, language: Language, chance: Chance) -> dict[str, str]:
    """The idea's words by slot; what it leaves out is drawn from the style."""
    flavour = book.flavours[style.key]
    hero = premise.hero or chance.pick(flavour.heroes)
    friends = [friend for friend in flavour.friends if short_name(friend, language=language) not in hero]
    met = premise.met or chance.pick(friends)
    place = premise.place or chance.pick(flavour.places)
    return {
        "hero": hero,
        "name": short_name(hero, language=language),
        "place": place,
        "spot": re.sub(r"(?<=..)[上里中]$", "", place),
        "deed": premise.action or chance.pick(flavour.deeds),
        "met": met,
        "friend": short_name(met, language=language),
        "light": chance.pick(flavour.lights),
    }


def _capitals(text: str) -> str:
    """English title case: small words stay small inside."""
    words = text.split()
    small = ("a", "an", "and", "the", "of", "who", "in", "on")
    return " ".join(word if at and word.lower() in small else word[:1].upper() + word[1:] for at, word in enumerate(words))


def _sentence(event: str, *, language: Language) -> str:
    return event + "。" if language is Language.ZH else event[:1].upper() + event[1:] + "."
