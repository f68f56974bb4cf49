"""The storyteller that needs no network: one idea or script in, the storyboard JSON of a model out.

Belongs here: `OfflineText` and how a story is put together from the idea's own words and a phrase book. Does not: reading
the idea (`story_words.py`), the script (`story_script.py`), the phrases (`story_arc*.py`), checking the storyboard
(`model/storyboard.py`).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from comic_pipeline.model.errors import ErrorCode, ProviderFault
from comic_pipeline.model.project import Language
from comic_pipeline.model.style import STYLES, Style
from comic_pipeline.providers.interface import Done, Go, Inline, JsonObject, StorySubject, TextRequest, at_once
from comic_pipeline.providers.offline import AnswersAtOnce
from comic_pipeline.providers.offline.story_arc import Beat, Line, PhraseBook, plan_beats, plan_nearness
from comic_pipeline.providers.offline.story_arc_en import BOOK as ENGLISH
from comic_pipeline.providers.offline.story_arc_zh import BOOK as CHINESE
from comic_pipeline.providers.offline.story_chance import Chance
from comic_pipeline.providers.offline.story_fill import complete, fill, sentence_of, spoken, title_case
from comic_pipeline.providers.offline.story_premise import Premise
from comic_pipeline.providers.offline.story_script import (
    ScriptLine,
    deal_out,
    read_script,
    room_for_speech,
    script_title,
    sentences_of,
    shorten,
    speech_size,
)
from comic_pipeline.providers.offline.story_when import read_when
from comic_pipeline.providers.offline.story_words import read_premise, told_part

# An idea of so many sentences is a story already: it is told in its own words.
_OWN_STORY = 3
# How much longer than the shot's room the idea's own sentence may be: the shot waits for its end, the idea is not cut.
_OWN_ROOM = 1.4


class OfflineText(AnswersAtOnce):
    """Writes storyboards. The same subject always gives the same story; a repair round therefore gives it again."""

    name = "offline_text"
    model = "offline-storyteller-2"
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
    idea = told_part(subject.idea, language=subject.language)
    if read_script(subject.script):
        title, told = teller.retell(subject.script, shots=subject.shots)
    elif len(sentences_of(idea)) >= _OWN_STORY:
        title, told = teller.title(), teller.retell(idea, shots=subject.shots)[1]
    else:
        title, told = teller.title(), teller.tell(plan_beats(subject.shots))
    moves = teller.moves(subject.shots)
    nearness = [teller.book.framings[near] for near in plan_nearness(subject.shots)]
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
        source = subject.idea or subject.script[:400]
        premise, when = read_premise(source, language=language), read_when(source, language=language)
        return cls(
            book=book,
            style=style,
            language=language,
            premise=premise,
            words=complete(premise, when=when, book=book, style=style, language=language, chance=Chance("premise", *key)),
            room=room_for_speech(subject.shot_ms, language=language),
            key=key,
        )

    def title(self) -> str:
        """Holds the hero's name, so that a reader (and the artist) knows whom the film is about."""
        text = fill(Chance("title", *self.key).pick(self.book.titles), self.words)
        return text if self.language is Language.ZH else title_case(text)

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
        """The story along `beats`. Narrator and characters take turns; no line is said twice.

        What the idea says itself comes first: its own sentence is told where it happens.
        """
        chance = Chance("story", *self.key)
        narrated = chance.likely(0.6)
        used: set[str] = set()
        told: list[_Told] = []
        for seq, name in enumerate(beats):
            beat, words = self.book.beats[name], self._words_now(chance)
            event = self._event(seq, beats=beats)
            own = sentence_of(event, name=self.words["name"], language=self.language) if event else self._about(seq)
            scene = self._scene(beat, words=words, event=own.rstrip("。.？?") if event else "", chance=chance, used=used)
            line = self._line(beat.lines, own=own, narrated=narrated, words=words, used=used, chance=chance)
            speaker = self.words[{"hero": "name", "friend": "friend"}[line.who]] if line.who else ""
            told.append(_Told(scene=scene, speaker=speaker, spoken=line.text))
            narrated = bool(line.who)
        return told

    def _about(self, seq: int) -> str:
        """How a film begins whose idea is no sentence."""
        if seq or not self.premise.theme:
            return ""
        return fill(self.book.about, {**self.words, "theme": self.premise.theme})

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
        clauses, hero, met = self.premise.clauses, self.premise.hero, self.premise.met
        if self.premise.theme:
            return ""
        if len(clauses) > 2:
            at = seq * len(clauses) // len(beats)
            return clauses[at] if seq == 0 or at != (seq - 1) * len(clauses) // len(beats) else ""
        opening = next((clause for clause in clauses if hero in clause and clause != hero), "")
        if seq == 0:
            return opening
        others = [clause for clause in clauses if clause not in (opening, hero)]
        meeting = [clause for clause in others if met and met in clause]
        then = "encounter" if meeting or "crisis" not in beats else "crisis"
        return next(iter(meeting or others), "") if beats[seq] == then else ""

    def _scene(self, beat: Beat, *, words: Mapping[str, str], event: str, chance: Chance, used: set[str]) -> str:
        # Where the idea's own sentence tells of the meeting, the picture's words do not tell it again.
        scenes = [one for one in self._true(beat.scenes) if not (event and ("遇到了{met}" in one or "meets the {met}" in one))]
        fresh = [scene for scene in chance.mixed(scenes) if scene not in used] or scenes
        used.add(fresh[0])
        scene = fill(fresh[0], words)
        joint = "，" if self.language is Language.ZH else "; "
        return f"{event[:120]}{joint}{scene}" if event else scene

    def _line(  # the parts of one decision, all by name
        self, lines: Sequence[Line], *, own: str, narrated: bool, words: Mapping[str, str], used: set[str], chance: Chance
    ) -> Line:
        """A line that fits and was not said before: the idea's `own` sentence first, else one of the wanted kind, else any."""
        if own and own not in used and 0 < self._size(own) <= _OWN_ROOM * self.room:
            return Line(who="", text=self._lengthen(own, self._afters(words, chance=chance), used=used))
        said = self._true([line.text for line in lines])
        ordered = [Line(who=line.who, text=self._spoken(line.text, words)) for line in lines if line.text in said]
        filled = chance.mixed(ordered)
        fitting = [line for line in filled if line.text not in used and 0 < self._size(line.text) <= self.room]
        if not fitting:
            told = next((line.text for line in filled if not line.who), "")
            return Line(who="", text=shorten(told, room=self.room, language=self.language))
        line = next((line for line in fitting if bool(line.who) != narrated), fitting[0])
        # What may follow stands behind it in the book: nobody greets after asking.
        behind = ordered[ordered.index(line) + 1 :]
        more = [other.text for other in behind if other in fitting and other.who == line.who]
        if not line.who:
            more = [words["coda"], *more] if words["coda"] in more else more + self._afters(words, chance=chance)
        return Line(who=line.who, text=self._lengthen(line.text, more, used=used))

    def _afters(self, words: Mapping[str, str], *, chance: Chance) -> list[str]:
        return [self._spoken(text, words) for text in chance.mixed(self.book.after)]

    def _true(self, templates: Sequence[str]) -> list[str]:
        """Those that do not make up a pastime where the idea says what happens."""
        invented = self.premise.clauses and not self.premise.theme and not self.premise.action
        return [one for one in templates if "{deed}" not in one] or list(templates) if invented else list(templates)

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
        return spoken(template, words, language=self.language)
