"""The offline storyteller: always the same for the same request, different for different ones, and never unusable."""

import asyncio
import json
import re
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from comic_pipeline.model.errors import ErrorCode, ProviderFault
from comic_pipeline.model.project import DEFAULT_IDEA, Language, detect_language
from comic_pipeline.model.storyboard import Storyboard, build_storyboard
from comic_pipeline.model.style import STYLES
from comic_pipeline.providers.interface import CancelOutcome, Done, Inline, Provider, Remote, StorySubject, Submitted, TextRequest
from comic_pipeline.providers.offline.panel_reading import tags_of
from comic_pipeline.providers.offline.story import OfflineText, write_story
from comic_pipeline.providers.offline.story_arc import PhraseBook, plan_beats
from comic_pipeline.providers.offline.story_arc_en import BOOK as ENGLISH
from comic_pipeline.providers.offline.story_arc_zh import BOOK as CHINESE
from comic_pipeline.providers.offline.story_when import read_when
from comic_pipeline.providers.offline.story_words import read_premise

ENGLISH_IDEA = "In a rain-wet neon city, a detective robot hunts a memory thief"
SCRIPT = """《雨夜》
第一场 便利店 夜
小李（疲惫地）：欢迎光临。
一只黑猫走进来，甩了甩身上的水。
黑猫：给我来一份鱼罐头（停顿）快点！
小李说：“你……会说话？”
旁白：那一夜，小李辞职了。"""


def subject(
    idea: str = DEFAULT_IDEA, *, script: str = "", style_key: str = "healing", shots: int = 3, shot_ms: int = 5_000
) -> StorySubject:
    language = detect_language(script or idea)
    return StorySubject(idea=idea, script=script, style_key=style_key, language=language, shots=shots, shot_ms=shot_ms)


def story(asked: StorySubject) -> Storyboard:
    return build_storyboard(write_story(asked), shot_ms=asked.shot_ms)


def request_for(asked: StorySubject, *, problems: str = "") -> TextRequest:
    return TextRequest(system="", user="", subject=asked, max_tokens=4_000, user_hash="u", problems=problems)


def made(answer: Submitted | Done) -> bytes:
    """The story of a provider that answers at once."""
    assert isinstance(answer, Done)
    assert isinstance(answer.output, Inline)
    assert answer.cost == 0
    return answer.output.data


def test_the_same_request_gives_the_same_bytes_also_in_a_repair_round() -> None:
    """A rerun must not tell another story, and a repair round has nothing to repair."""
    writer: Provider[TextRequest] = OfflineText()
    answers = [asyncio.run(writer.submit(request_for(subject(), problems=problems))) for problems in ("", "", "shot 2 is bad")]
    (told,) = set(map(made, answers))
    assert json.loads(told.decode("utf-8"))["title"]


@pytest.mark.parametrize(
    "other",
    [
        subject("一只小狗在海边捡到一封信"),
        subject(style_key="suspense"),
        subject(shots=6, shot_ms=10_000),
        subject(shot_ms=10_000),
    ],
    ids=["idea", "style", "shots", "length"],
)
def test_another_idea_style_or_length_gives_another_story(other: StorySubject) -> None:
    """Canned stories would give the same lines for every idea."""
    lines = [shot["dialogue"] + shot["narration"] + shot["scene_desc"] for shot in write_story(subject())["shots"]]
    others = [shot["dialogue"] + shot["narration"] + shot["scene_desc"] for shot in write_story(other)["shots"]]
    assert len(set(lines) & set(others)) <= 1


@pytest.mark.parametrize(
    ("idea", "hero", "place", "met"),
    [
        (DEFAULT_IDEA, "小猫", "月球上", "会唱歌的星星"),
        ("夜晚的街道上，侦探追踪一个会隐身的小偷", "侦探", "街道上", "会隐身的小偷"),
        ("在一个下雨的夜晚，少女在旧书店里捡到一本会说话的书", "少女", "旧书店里", "会说话的书"),
        ("剑客独自走进竹林，寻找失踪的师父", "剑客", "竹林里", "失踪的师父"),
        ("公司年会上老板被一只鹅追着跑", "老板", "公司里", ""),
        ("阿明是一名程序员，他在便利店发现了一台时光机", "程序员", "便利店里", "时光机"),
        ("小红帽打败大灰狼", "小红帽", "", "大灰狼"),
        (ENGLISH_IDEA, "detective robot", "in a rain-wet neon city", "memory thief"),
        ("A cat plants flowers on the moon and meets a singing star", "cat", "on the moon", "singing star"),
        ("A robot dog delivers flowers in the rain and meets a lost girl", "robot dog", "", "lost girl"),
        ("John wakes up and discovers he can hear plants", "John", "", ""),
        ("🐱🌙", "cat", "", "crescent moon"),
        ("外卖骑手在暴雨夜给一位独居老奶奶送生日蛋糕", "外卖骑手", "", "独居老奶奶"),
        ("程序员凌晨三点发现代码里住着一个小女孩", "程序员", "", "小女孩"),
        ("上班族与外星人合租", "上班族", "", "外星人"),
        ("两个机器人相爱了", "机器人", "", "另一个机器人"),
        ("爷爷的旧收音机", "爷爷", "", "旧收音机"),
        ("如果恐龙没有灭绝会怎样", "恐龙", "", ""),
        ("请帮我写一个小猫种花的故事", "小猫", "", ""),
        ("Alice finds a talking door in her school", "Alice", "in her school", "talking door"),
        ("Sherlock Holmes solves the case of the missing cake", "Sherlock Holmes", "", ""),
        ("Two sisters run a bakery in Paris", "sister", "in Paris", "other sister"),
        ("A lonely whale falls in love with a lighthouse", "lonely whale", "", "lighthouse"),
        ("Once upon a time, a princess saved a dragon", "princess", "", "dragon"),
        ("Make me a short film about a boy and his dog who travel to Mars", "boy", "", "dog"),
        ("A keeper finds a letter in a bottle", "keeper", "", "letter"),
        ("Dr. Li cures a sick planet", "Dr Li", "", ""),
        ("AI觉醒了", "AI", "", ""),
    ],
)
def test_the_parts_of_an_idea_are_found(idea: str, hero: str, place: str, met: str) -> None:
    """Who, where and whom decide the whole story; a wrong cut would be seen in every shot."""
    premise = read_premise(idea, language=detect_language(idea))
    assert (premise.hero, premise.place, premise.met) == (hero, place, met)


@pytest.mark.parametrize(
    ("idea", "theme"),
    [
        ("爱情", "爱情"),
        ("月球", "月球"),
        ("1984", "1984"),
        ("time travel", "time travel"),
        ("Love", "love"),
        ("dragon", "a dragon"),
        ("讲述一个关于友谊的故事", "友谊"),
        ("请帮我做一个关于环保的动画", "环保"),
        ("爷爷的旧收音机", "爷爷的旧收音机"),
    ],
)
def test_an_idea_that_is_no_sentence_becomes_what_the_film_is_about(idea: str, theme: str) -> None:
    """Seen: a hero called 爱情 or 请帮我, who counted stars, and half sentences like 爷爷的旧收音机 as a line."""
    board = story(subject(idea))
    assert read_premise(idea, language=detect_language(idea)).theme == theme
    assert board.shots[0].narration in (f"这是一个关于{theme}的故事。", f"This is a story about {theme}.")
    assert "请帮我" not in board.title + "".join(shot.spoken for shot in board.shots)


@pytest.mark.parametrize(
    ("idea", "told"),
    [
        (DEFAULT_IDEA, ["一只小猫在月球上种花。", "小猫遇到了会唱歌的星星。"]),
        ("外卖骑手在暴雨夜给一位独居老奶奶送生日蛋糕", ["外卖骑手在暴雨夜给一位独居老奶奶送生日蛋糕。"]),
        ("林小满每天坐末班地铁，直到有一天车厢里只剩她一个人", ["林小满每天坐末班地铁。", "直到有一天车厢里只剩她一个人。"]),
        ("A robot learns to paint the sea", ["A robot learns to paint the sea."]),
        ("what if the sun went out?", ["What if the sun went out?"]),
        ("When the moon fell into the sea, a man caught it", ["When the moon fell into the sea."]),
        ("Alice finds a talking door in her school", ["Alice finds a talking door in her school."]),
    ],
)
def test_the_idea_s_own_sentences_are_told_in_its_order(idea: str, told: list[str]) -> None:
    """A viewer must hear what the film is about; once a robot said `Today feels different somehow.` and nobody named the sea."""
    narrated = [shot.narration for shot in story(subject(idea)).shots if shot.narration]
    assert narrated[: len(told)] == told


def test_nothing_is_made_up_where_the_idea_says_what_happens() -> None:
    """Seen: a courier with a birthday cake who `collected moonlight` in the same breath."""
    for style in STYLES:
        board = story(subject("外卖骑手在暴雨夜给一位独居老奶奶送生日蛋糕", style_key=style, shots=12, shot_ms=10_000))
        words = "".join(shot.scene_desc + shot.spoken for shot in board.shots)
        assert [deed for deed in CHINESE.flavours[style].deeds if deed in words] == []


def test_an_idea_of_several_sentences_is_told_in_whole_sentences() -> None:
    """Seen: `有一天。` and `老人说。` as lines, beside phrases that the writer had not asked for."""
    idea = (
        "在一个常年下雨的小镇上，住着一位修伞的老人。有一天，一个小女孩推门进来，问他有没有一把红色的伞。"
        "伞一打开，屋里下起了金色的雨。老人说，雨不是天空的眼泪，是天空在写信。"
    )
    board = story(subject(idea, shots=4, shot_ms=10_000))
    assert "".join(shot.narration for shot in board.shots) == idea
    assert "老人" in board.title


def test_markup_and_format_characters_are_not_read_aloud() -> None:
    """Seen: `秘密N老板说你好dbxb。` for an idea with a tag, a %d and ASS's line break."""
    words = "".join(shot.spoken + shot.scene_desc for shot in story(subject("老板在夜市\\N卖{秘密} %d <b>包子</b>")).shots)
    assert "老板在夜市" in words
    assert not set(words) & set("{}<>%\\Nbd")


@pytest.mark.parametrize(
    ("idea", "right", "wrong"),
    [
        ("Alice finds a talking door", "Alice", r"[Tt]he Alice|An? Alice"),
        ("An otter meets an owl", "otter", r"\b[Aa] (?:otter|owl)"),
        ("Two sisters run a bakery", "sister", r"the sisters|[Aa]n? other sister"),
        ("Cats", "cat", r"the Cats?\b|[Aa] cats"),
    ],
)
def test_english_names_take_no_article_and_nouns_the_right_one(idea: str, right: str, wrong: str) -> None:
    """Seen: `A Sisters, a Singing Star`, `the sisters stands`, `The Talking Door` for Alice's film."""
    for shots in (3, 12):
        board = story(subject(idea, shots=shots, shot_ms=10_000))
        words = " | ".join([board.title, *(f"{shot.scene_desc} | {shot.spoken}" for shot in board.shots)])
        assert right in words
        assert re.findall(wrong, words.replace("Two sisters", "")) == []


@pytest.mark.parametrize(
    ("idea", "when", "tags"),
    [
        ("外卖骑手在暴雨夜给一位独居老奶奶送生日蛋糕", "雨夜的微光", ["time:night", "weather:rain"]),
        ("一只小狗在雪夜里找妈妈", "下雪的夜晚", ["time:night", "weather:snow"]),
        ("清晨，渔夫在海边捡到一封信", "清晨的微光", ["time:dusk"]),
        ("A robot dog delivers flowers in the rain", "steady rain", ["weather:rain"]),
        ("At midnight a fox opens a shop", "a quiet night", ["time:night"]),
        ("守夜人在夜市卖雪山的照片", "", []),
        ("A night watchman sells umbrellas", "", []),
    ],
)
def test_the_hour_and_weather_of_an_idea_hold_for_every_shot(idea: str, when: str, tags: list[str]) -> None:
    """Seen: a cake brought through a rainy night, eaten in broad daylight: the style's light knew nothing of the idea."""
    assert read_when(idea, language=detect_language(idea)) == when
    for shot in story(subject(idea, style_key="comedy", shots=6, shot_ms=10_000)).shots:
        assert [tag for tag in tags if tag not in tags_of(shot.image_prompt)] == []
        assert not tags or "time:day" not in tags_of(shot.image_prompt)


@pytest.mark.parametrize("book", [CHINESE, ENGLISH], ids=["zh", "en"])
def test_light_trouble_and_turn_name_no_other_place(book: PhraseBook) -> None:
    """Seen: data that ran back 回天上 put the last shot of a street into the clouds. The place is the idea's alone."""
    drawn = [*(text for one in book.flavours.values() for text in (*one.lights, *one.troubles, *one.turns))]
    drawn += [re.sub(r"\{\w+\}", " ", scene) for beat in book.beats.values() for scene in beat.scenes]
    assert [text for text in drawn if any(tag.startswith("set!") for tag in tags_of(text))] == []


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(("shots", "shot_ms"), [(3, 5_000), (3, 10_000), (6, 10_000), (12, 10_000)])
@pytest.mark.parametrize(
    ("idea", "words"), [(DEFAULT_IDEA, ("小猫", "月球", "种花", "星星")), (ENGLISH_IDEA, ("robot", "neon city", "thief"))]
)
def test_a_story_has_the_asked_shots_and_the_idea_s_own_words(
    style: str, shots: int, shot_ms: int, idea: str, words: tuple[str, ...]
) -> None:
    """Every style and length tells this idea, in exactly the shots that were asked for, with dialogue and narration."""
    board = story(subject(idea, style_key=style, shots=shots, shot_ms=shot_ms))
    text = board.title + "".join(shot.scene_desc + shot.image_prompt + shot.spoken for shot in board.shots)
    assert [shot.duration_ms for shot in board.shots] == [shot_ms] * shots
    assert [word for word in words if word not in text] == []
    assert any(shot.dialogue and shot.speaker for shot in board.shots)
    assert any(shot.narration and not shot.speaker for shot in board.shots)
    assert all(STYLES[style].picture_words in shot.image_prompt for shot in board.shots)
    assert all(a.motion_prompt != b.motion_prompt for a, b in zip(board.shots, board.shots[1:], strict=False))
    spoken = [shot.spoken for shot in board.shots]
    assert len(set(spoken)) == len(spoken)


def test_the_language_of_the_subject_is_the_language_of_the_story() -> None:
    """A Chinese line in an English film would be read by the wrong voice."""
    english = story(subject(ENGLISH_IDEA, shots=12, shot_ms=10_000))
    chinese = story(subject(shots=12, shot_ms=10_000))
    assert all(detect_language(shot.spoken + shot.scene_desc + english.title) is Language.EN for shot in english.shots)
    assert all(not any(char.isascii() and char.isalpha() for char in shot.spoken) for shot in chinese.shots)


HOSTILE = [
    "猫",
    "cats",
    "？！。。。猫~~",
    "🐱",
    "?!1",
    "12345",
    "他说：“{hero} %s \\n {0}\"'`",
    "一只{name}在[月球]上<种花>",
    "“勇敢的小兔子”🐰去森林里找月亮🌙",
    "кот и собака",
    "ねこが花を植える",
    "在" * 2_000,
    "一只小猫" * 500,
    "abc" * 666,
    "从前有一座山，山里有一座庙，" * 140,
    "A dog runs. " * 160,
    "的的的，在在在",
    "the a an of in",
    "line one\nline two\n\tline three",
]


@pytest.mark.parametrize("idea", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize(("shots", "shot_ms"), [(3, 5_000), (12, 10_000)])
def test_any_idea_gives_a_speakable_story(idea: str, shots: int, shot_ms: int) -> None:
    """Emoji, quotes, format characters, one word or 2,000 characters: the storyboard is valid and every line fits its shot."""
    board = story(subject(idea, shots=shots, shot_ms=shot_ms))
    assert len(board.shots) == shots
    for shot in board.shots:
        assert_speakable(shot.spoken, shot_ms=shot_ms, language=detect_language(idea))
        assert shot.scene_desc.strip()
        assert len(shot.scene_desc) < 400


def assert_speakable(spoken: str, *, shot_ms: int, language: Language) -> None:
    # The idea's own sentence is not cut: it may be 1.4 times as long, and the shot waits for it.
    seconds = 1.4 * (shot_ms / 1000 - 1)
    size = len(spoken) if language is Language.ZH else len(spoken.split())
    assert size <= seconds * (4 if language is Language.ZH else 2.5)
    assert not set(spoken) & set('（）()【】[]*“”"{}')


def test_a_script_speaks_with_its_own_voices() -> None:
    """Lines stay with their speakers; names, directions, quotation marks and headings are never read aloud."""
    board = story(subject("", script=SCRIPT))
    assert board.title == "雨夜"
    assert [(shot.speaker, shot.dialogue) for shot in board.shots] == [
        ("小李", "欢迎光临。"),
        ("黑猫", "给我来一份鱼罐头快点！"),
        ("小李", "你……会说话？"),
    ]
    assert "一只黑猫走进来" in board.shots[1].scene_desc
    assert all("便利店" in shot.image_prompt for shot in board.shots)


def test_an_english_script_is_told_in_english() -> None:
    """`Name: line` and `INT.` headings are read like their Chinese forms; a link or a clock time is no speaker."""
    script = "INT. SHIP - NIGHT\nOLD MAN: (whispers) Hold on.\nhttps://example.test/a\n12:30 the bell rings\nMia: We are home!"
    board = story(subject("", script=script, shots=3))
    assert {(shot.speaker, shot.dialogue) for shot in board.shots if shot.speaker} <= {
        ("OLD MAN", "Hold on."),
        ("Mia", "We are home!"),
    }
    assert ("Mia", "We are home!") in {(shot.speaker, shot.dialogue) for shot in board.shots}


@pytest.mark.parametrize("shots", [3, 6, 12])
@pytest.mark.parametrize(
    "script",
    [
        "她推开门，屋里一片漆黑。墙上的钟停在三点。她听见自己的心跳。",
        "小明：好。",
        "小明：" + "这句话非常非常长，长到一个镜头根本说不完，" * 60,
        "旁白：" + "很久以前。" * 900,
        "\n".join(f"角色{number}：第{number}句台词！" for number in range(300)),
        "：：：\n（）\n：没有名字",
        "。。。！！！",
        "One long line without any stop " * 60,
    ],
)
def test_any_script_fills_exactly_the_asked_shots(script: str, shots: int) -> None:
    """Fewer lines than shots, many more, or no line at all: the shots are there and what is said fits."""
    board = story(subject("", script=script, shots=shots))
    assert len(board.shots) == shots
    for shot in board.shots:
        assert_speakable(shot.spoken, shot_ms=5_000, language=detect_language(script))
        assert shot.scene_desc.strip()


@pytest.mark.parametrize("shots", range(1, 20))
def test_an_arc_has_one_beat_a_shot_and_ends_with_the_end(shots: int) -> None:
    """Stories of any length have somebody to meet, long ones trouble too; three shots begin, meet and end."""
    beats = plan_beats(shots)
    assert len(beats) == shots
    assert "encounter" in beats
    assert ("crisis" in beats) == (shots >= 4)
    if shots >= 3:
        assert (beats[0], beats[-1]) == ("opening", "ending")


@pytest.mark.parametrize("impossible", [subject(style_key="baroque"), subject(shots=0)])
def test_an_impossible_request_is_refused_before_any_work(impossible: StorySubject) -> None:
    """Unknown styles are refused by name, not told in a default style."""
    writer, asked = OfflineText(), request_for(impossible)
    for attempt in (lambda: writer.describe(asked), lambda: asyncio.run(writer.submit(asked))):
        with pytest.raises(ProviderFault) as refused:
            attempt()
        assert refused.value.code is ErrorCode.INPUT_INVALID


def test_what_decides_the_story_is_described() -> None:
    """The ledger's key changes with everything that changes the story, and with nothing else."""
    writer = OfflineText()
    base = writer.describe(request_for(subject()))
    assert base == writer.describe(request_for(subject(), problems="again"))
    for other in (subject("狗"), subject(style_key="ink"), subject(shots=6), subject(shot_ms=10_000), subject(script="甲：好")):
        assert writer.describe(request_for(other)) != base
    assert json.loads(json.dumps(base)) == base


def test_a_provider_that_answers_at_once_has_no_jobs() -> None:
    """Polling would hide a lost answer; it is refused. There is nothing to find, to cancel or to download."""
    writer, asked = OfflineText(), request_for(subject())
    with pytest.raises(ProviderFault, match="makes no jobs"):
        asyncio.run(writer.poll("job-1", asked))
    with pytest.raises(ProviderFault, match="gives no links"):
        asyncio.run(writer.fetch(Remote("https://example.test/x")))
    assert asyncio.run(writer.fetch(Inline(b"x"))) == b"x"
    assert asyncio.run(writer.cancel("job-1")) is CancelOutcome.UNSUPPORTED
    assert asyncio.run(writer.find(asked, since=datetime.now(UTC))) == ()
    assert (writer.asynchronous, writer.offline, writer.estimate(asked)) == (False, True, Decimal(0))
    asyncio.run(writer.close())
