"""From the words of a shot to what its panel shows: setting, time, weather, hero, companion, props, pose, mood, camera.

Belongs here: the lexicon and the `PanelPlan`. Does not: any drawing. A word that is not in the lexicon changes nothing;
what no word decides is drawn by chance from the project's identity, so that all shots of a project agree.
"""

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from comic_pipeline.model.style import STYLES
from comic_pipeline.providers.interface import PanelSubject
from comic_pipeline.providers.offline.panel_looks import Time
from comic_pipeline.providers.offline.story_chance import Chance

# tags | Chinese words | English words. `set!` is a place by name, `set` a mere hint of one.
_LEXICON = """
set!:moon | 月球 月面 月亮上 月亮里 环形山 月宫 | on the moon;to the moon;lunar;crater
set!:space time:night | 太空 宇宙 银河 空间站 | outer space;in space;galaxy;space station
set!:space time:night | 飞船里 星球 火星 星际 | spaceship;planet;mars
set!:forest | 森林 树林 雨林 丛林 林间 林子 | forest;woods;jungle
set!:bamboo | 竹林 竹海 竹子 | bamboo
set!:city | 城市 都市 天台 屋顶 楼顶 高楼 摩天 大厦 | city;rooftop;skyline;skyscraper
set!:street | 街道 街上 小巷 巷子 街头 路口 夜市 便利店 | street;alley;market;shop
set!:street | 火锅店 店门 车站 地铁 集市 小镇 长安 | station;road;town
set!:sea | 大海 海边 海上 海面 沙滩 海岛 小岛 海洋 | sea;ocean;beach;island
set!:sea | 灯塔 湖 江南 江边 河边 水乡 码头 | lighthouse;harbour;river;lake
set!:undersea | 海底 深海 水下 龙宫 珊瑚 | underwater;under the sea;deep sea;coral
set!:room | 房间 家里 卧室 厨房 客厅 屋里 办公室 | room;house;kitchen;bedroom
set!:room | 公司 医院 餐馆 咖啡馆 茶馆 门 | office;home;cafe;hospital
set!:library | 图书馆 书店 书房 实验室 博物馆 | library;bookshop;study;laboratory;lab;museum
set!:classroom | 教室 学校 校园 课堂 | classroom;school;campus
set!:mountain | 山顶 雪山 高山 山谷 山峰 悬崖 山坡 群山 | mountain;cliff;peak;valley;hill
set!:temple | 寺庙 古寺 道观 古城 宫殿 江湖 | temple;shrine;palace
set!:desert | 沙漠 戈壁 沙丘 荒原 废墟 | desert;dune;wasteland;ruin
set!:field | 花园 田野 麦田 草原 农场 草地 果园 村庄 公园 乡下 | garden;field;meadow;farm;village;park
set!:snow weather:snow | 雪原 冰原 雪地 北极 南极 | snowfield;arctic;antarctic;glacier
set!:castle | 城堡 王国 魔法学院 塔楼 迷宫 | castle;kingdom;tower;maze
set!:clouds | 云端 云上 云海 天上 天空之城 高空 | above the clouds;in the clouds;in the sky
set:mountain | 山 | hills
set:sea | 海 船 舟 江 河 | boat;ship;shore
set:clouds | 飞行 天空里 | flying
set:forest | 林 树 | tree
set:city | 城 霓虹 | neon
time:night | 夜 雨夜 深夜 凌晨 半夜 晚上 月光 月亮 | night;midnight;moonlight;moon
time:night | 淡月 星光 极光 黑暗 暗了 路灯 | starlight;dark;northern lights
time:dusk | 黄昏 夕阳 傍晚 晚霞 清晨 晨光 日出 日落 朝阳 | dusk;sunset;dawn;sunrise;morning light
time:day | 白天 中午 正午 阳光 大白天 | noon;daylight;sunshine;sunlight
weather:rain | 雨 雨夜 细雨 暴雨 | rain;storm
weather:snow | 雪 下雪 雪花 | snow;blizzard
fig:cat | 猫 猫咪 | cat;kitten;kitty
fig:dog | 狗 犬 狗狗 柴犬 | dog;puppy
fig:rabbit | 兔 兔子 玉兔 | rabbit;bunny;hare
fig:fox | 狐 狐狸 狐仙 狼 | fox;wolf
fig:bear | 熊 小熊 | bear
fig:panda | 熊猫 大熊猫 | panda
fig:mouse | 鼠 老鼠 仓鼠 松鼠 刺猬 | mouse;hamster;squirrel;hedgehog
fig:pig | 猪 | pig;piglet
fig:tiger | 虎 老虎 狮 狮子 豹 | tiger;lion;leopard
fig:deer | 鹿 白鹿 马 羊 牛 | deer;horse;pony;unicorn;sheep;goat;cow
fig:monkey | 猴 猴子 悟空 | monkey;ape
fig:frog | 青蛙 蛙 龟 乌龟 | frog;toad;turtle
fig:dragon | 龙 小龙 巨龙 恐龙 怪兽 麒麟 | dragon;dinosaur;monster
fig:bird | 鸟 小鸟 鹦鹉 鸡 乌鸦 猫头鹰 凤凰 鹤 | bird;parrot;chicken;crow;owl;phoenix;crane
fig:duck | 鸭 鹅 企鹅 | duck;goose;penguin
fig:fish | 鱼 金鱼 鲸 鲸鱼 海豚 鲨鱼 人鱼 | fish;whale;dolphin;shark;mermaid
fig:robot | 机器人 机器 机械 机甲 程序 人工智能 AI | robot;android;cyborg;machine;program
fig:alien | 外星人 | alien
fig:ghost | 幽灵 鬼 鬼魂 灵魂 影子怪 | ghost;spirit;phantom
fig:girl | 女孩 少女 姑娘 小女孩 公主 仙女 女巫 | girl;princess;daughter;sister
fig:girl | 女生 妹妹 女儿 孙女 她 小红帽 精灵 | fairy;witch;elf
fig:boy | 男孩 少年 小伙 王子 男生 弟弟 儿子 孩子 学生 勇者 | boy;prince;son;brother;child;kid;student
fig:woman | 女人 女子 妈妈 女士 护士 女王 | woman;lady;mother;queen
fig:woman | 记者 老师 她们 | nurse;reporter;teacher
fig:granny | 奶奶 老奶奶 外婆 姥姥 老太太 老婆婆 | grandmother;granny;grandma;old woman;old lady
fig:man | 男人 男子 爸爸 老板 程序员 医生 司机 快递员 厨师 | man;father;boss;doctor;driver;cook
fig:man | 骑手 上班族 保安 保镖 演员 警察 画家 歌手 作家 小哥 黑客 店主 邮差 | chef;policeman;painter;hacker;programmer;keeper
fig:elder | 老人 爷爷 老爷爷 师父 说书 神仙 | old man;grandfather;elder;master;storyteller
fig:detective | 侦探 守夜人 守塔人 特工 小偷 面具 | detective;watchman;agent;thief;masked
fig:swordsman | 剑客 侠客 刀客 书生 道士 武士 将军 诗人 忍者 | swordsman;samurai;scholar;ninja;warrior
fig:knight | 骑士 战士 士兵 英雄 国王 | knight;soldier;hero;king
fig:wizard | 魔法师 巫师 法师 | wizard;magician;sorcerer;mage
fig:astronaut | 宇航员 飞行员 航天员 | astronaut;pilot
prop:star | 星星 星光 流星 星辰 | star
prop:flower | 花 花儿 种花 花朵 玫瑰 梅花 花园 | flower;rose;blossom;bloom;garden
prop:book | 书 日记 旧案 魔法书 作业 | book;diary;spells;homework
prop:boat | 船 木船 扁舟 小舟 | boat;ship
prop:sword | 剑 刀 练剑 剑客 骑士 | sword;blade;knight
prop:umbrella | 伞 雨伞 | umbrella
prop:lantern | 灯笼 灯火 提灯 灯 | lantern;lamp;flame;candle
prop:balloon | 气球 热气球 | balloon
prop:note | 唱歌 歌 音乐 琴 抚琴 吉他 | singing;song;music;sing;zither
prop:letter | 信 写信 信封 | letter;mail
prop:heart | 爱 心跳 爱心 | heart;love
prop:cake | 蛋糕 早饭 饭 面包 吃 火锅 | cake;bread;breakfast;food
prop:butterfly | 蝴蝶 萤火虫 | butterfly;firefly
prop:chest | 宝箱 宝藏 箱子 | treasure;chest
prop:rocket | 火箭 飞船 | rocket;spaceship
prop:tree | 大树 树苗 种树 | tree;sapling
prop:kite | 风筝 | kite
prop:clock | 钟 时光机 时间 | clock;time machine
prop:crystal | 水晶 宝石 芯片 魔法 | crystal;gem;jewel;chip
prop:sparkle | 光点 闪闪发亮 发光 光雨 | glow;shine;lights rose;sparkle
pose:run | 跑 奔跑 追 逃 | run;runs;chase;race
pose:sit | 坐 蹲 并肩 | sit;sits;crouch
pose:wave | 挥手 打招呼 再见 | wave;waves;goodbye
pose:reach | 伸出手 种 采 捡 挖 修 | reach;reaches;planting;plants;digging;mending
pose:cheer | 跳起 欢呼 做到了 举起双手 全开了 | jump;jumps;cheer;raises both hands
pose:shield | 挡在 守护 保护 | in front of;guard;protect
pose:fly | 飞 | fly;flies
pose:think | 低着头 想 秘密 | lowered head;think;secret
pose:look | 抬头 眺望 看着远方 望 | look up;looks far;distance
mood:happy | 笑 微笑 开心 唱歌 一起 欢迎 | smile;smiles;laugh;happy;together
mood:sad | 哭 低着头 难过 | cry;sad;lowered
mood:shock | 吃惊 惊讶 睁大 焦急 忽然 突然 不好 | shock;surprise;worry;suddenly;eyes wide
mood:brave | 挡在 勇 剑 深吸一口气 守护 | brave;sword;breath;guard;in front of
cam:wide | 远景 全景 大全景 | wide shot;long shot;full shot
cam:medium | 中景 | medium shot
cam:close | 近景 特写 | close-up;close up;closeup
"""

_FALLBACK_SETTINGS = ("field", "street", "forest", "room", "mountain", "city")
_INDOORS = frozenset({"room", "library", "classroom"})
_PEOPLE_TEXT = "girl boy woman man elder granny detective swordsman knight wizard astronaut"
_PEOPLE = frozenset(_PEOPLE_TEXT.split())
_LIVELY = frozenset({"star", "flower", "tree", "lantern", "butterfly"})
_UNWANTED = re.compile(r"\b(?:no|without)\s+\w+|(?:没有|不要|无)(?:文字|字母|水印)", re.IGNORECASE)
_LIFELESS = frozenset({"note", "sword", "heart", "sparkle"})
_SPEAKS = re.compile(r"会[^，。]{1,5}的|\b(?:talking|singing|dancing|speaking|living)\b", re.IGNORECASE)
_FIRST_CAMERA = ("wide", "medium", "close", "medium")


@dataclass(frozen=True)
class PanelPlan:
    """What one panel shows. `companion` is a figure or a prop with a face, or empty; `camera` is wide, medium or close."""

    setting: str
    time: Time
    weather: str
    hero: str
    companion: str
    props: tuple[str, ...]
    pose: str
    mood: str
    camera: str


def plan_panel(subject: PanelSubject, *, prompt: str, usual_time: Time) -> PanelPlan:
    """Read a shot. `prompt` counts as much as the scene. Never raises.

    The style's own words in either do not count, nor does the identity: it is an id.
    """
    scene = _without_asides(subject.scene, subject.style_key)
    shown = f"{scene}\n{_without_asides(prompt, subject.style_key)}"
    found = tags_of(shown)
    lead = tags_of(subject.title)
    chance = Chance("plan", subject.identity or subject.title)
    setting = _setting_of(found, lead, chance=chance)
    hero = _first("fig", lead) or _first("fig", tags_of(scene)) or chance.pick(("girl", "boy"))
    poses = [tag.partition(":")[2] for tag in found if tag.startswith("pose:")]
    return PanelPlan(
        setting=setting,
        time=Time.NIGHT if setting in ("moon", "space") else Time(_first("time", found) or usual_time),
        weather="" if setting in _INDOORS or setting in ("moon", "space", "undersea") else _first("weather", found),
        hero=hero,
        companion=_companion_of(found, lead, hero=hero, speaks=_SPEAKS.search(subject.title + shown) is not None),
        props=_props_of(found),
        pose=poses[0] if poses else Chance("pose", subject.seq, subject.scene).pick(("stand", "wave", "look", "walk")),
        mood=_first("mood", found) or "calm",
        camera=_first("cam", found) or _FIRST_CAMERA[subject.seq % len(_FIRST_CAMERA)],
    )


def is_person(kind: str) -> bool:
    """Whether a figure of this kind is a human being."""
    return kind in _PEOPLE


def _setting_of(found: list[str], lead: list[str], *, chance: Chance) -> str:
    votes: Counter[str] = Counter()
    for tag in found:
        category, _, value = tag.partition(":")
        if category in ("set!", "set"):
            votes[value] += 3 if category == "set!" else 1
    if votes:
        return votes.most_common(1)[0][0]
    return _first("set!", lead) or _first("set", lead) or chance.pick(_FALLBACK_SETTINGS)


def _companion_of(found: list[str], lead: list[str], *, hero: str, speaks: bool) -> str:
    """Whom the title names beside the hero and the shot shows, else another figure of the shot.

    A thing is somebody when it is lively by nature or when the words say that things can act (`speaks`).
    """
    named = [
        value for tag in lead for category, _, value in [tag.partition(":")] if category in ("fig", "prop") and value != hero
    ]
    shown = [
        value for tag in found for category, _, value in [tag.partition(":")] if category in ("fig", "prop") and value != hero
    ]
    with_face = [
        value
        for value in named
        if value in shown and (f"fig:{value}" in lead or value in _LIVELY or (speaks and value not in _LIFELESS))
    ]
    figures = [tag.partition(":")[2] for tag in found if tag.startswith("fig:")]
    others = [kind for kind in figures if kind != hero]
    return next(iter(with_face or others), "")


def _props_of(found: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tag.partition(":")[2] for tag in found if tag.startswith("prop:")))[:5]


def _first(category: str, tags: list[str]) -> str:
    return next((tag.partition(":")[2] for tag in tags if tag.partition(":")[0] == category), "")


def _without_asides(text: str, style_key: str) -> str:
    """`text` without the style's words and without what shall not be seen: `no letters` is no letter."""
    style = STYLES[style_key]
    for words in (style.picture_words, style.zh, style.en):
        text = text.replace(words, " ")
    return _UNWANTED.sub(" ", text)


@lru_cache(maxsize=1)
def _lexicon() -> tuple[re.Pattern[str], dict[str, tuple[str, ...]]]:
    """One pattern over all words, the longest first, so that 熊猫 is no 熊 and a spaceship no ship; and the tags of each word."""
    tags: dict[str, tuple[str, ...]] = {}
    for line in _LEXICON.strip().splitlines():
        kinds, chinese, english = (part.strip() for part in line.split("|"))
        for word in (*chinese.split(), *english.split(";")):
            tags[word.lower()] = (*tags.get(word.lower(), ()), *kinds.split())
    parts = [
        rf"\b{re.escape(word)}{_plural(word)}\b" if word.isascii() else re.escape(word)
        for word in sorted(tags, key=len, reverse=True)
    ]
    return re.compile("|".join(parts), re.IGNORECASE), tags


def _plural(word: str) -> str:
    """`stars`, but `boxes`: the verb `stares` is no star."""
    return "(?:es)?" if word.endswith(("s", "x", "ch", "sh")) else "s?"


def tags_of(text: str) -> list[str]:
    """The tags of all words in order. A place that only describes a figure is dropped: a lighthouse keeper is no place.

    Of two words for one figure the last one counts, but an animal or a machine before a person (猫侦探, a cat detective).
    """
    pattern, tags = _lexicon()
    found: list[str] = []
    following, start = "", -1
    for match in reversed(list(pattern.finditer(text))):
        word = match.group().lower()
        known = tags.get(word) or tags.get(word.removesuffix("s")) or tags.get(word.removesuffix("es"), ())
        figure = _first("fig", list(known))
        if start == match.end() + word.isascii() and following:
            if figure and not is_person(figure) and is_person(following):
                found.remove(f"fig:{following}")
            else:
                known = tuple(tag for tag in known if not tag.startswith(("set", "fig")))
                figure = following
        found = [*known, *found]
        following, start = figure, match.start()
    return found
