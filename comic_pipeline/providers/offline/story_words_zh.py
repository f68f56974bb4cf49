"""Reading a Chinese idea by particles, measure words, verbs and punctuation.

Belongs here: picking the parts out of Chinese text. Does not: English (`story_words_en.py`), what a part is for
(`story_premise.py`).
"""

import re

from comic_pipeline.providers.offline.story_premise import Premise

_COUNTED = r"(?:[一两二三四五几这那某每][只个位名条头匹群对辆艘朵颗棵座双张把本架家支枚株间台段句]|[只位名]|一)"
_HEROES_TEXT = (
    "机器人 外星人 宇航员 程序员 快递员 飞行员 消防员 魔法师 守塔人 守夜人 守林人 稻草人 设计师 摄影师 图书管理员 "
    "小红帽 白雪公主 大熊猫 熊猫 小女孩 小男孩 女孩 男孩 少女 少年 女子 男子 女人 男人 老人 老爷爷 老奶奶 奶奶 爷爷 "
    "妈妈 爸爸 孩子 姑娘 小伙子 小伙 婴儿 侦探 医生 护士 老师 学生 画家 歌手 作家 厨师 警察 骑士 公主 王子 国王 女王 "
    "皇帝 剑客 侠客 刀客 道士 和尚 僧人 书生 诗人 将军 士兵 猎人 渔夫 农夫 樵夫 巫师 女巫 精灵 妖怪 狐仙 神仙 仙女 "
    "幽灵 鬼魂 船长 海盗 水手 黑客 杀手 记者 老板 店主 司机 邮差 工匠 木匠 学徒 师父 徒弟 武士 忍者 勇者 战士 英雄 "
    "骑手 上班族 保安 保镖 演员 舞者 "
    "怪兽 小偷 猫咪 小猫 猫 小狗 狗 兔子 小兔 兔 恐龙 小龙 巨龙 龙 狐狸 小熊 熊 小鸟 鸟 鹦鹉 猫头鹰 乌鸦 鲸鱼 鲸 海豚 "
    "小鱼 鱼 小马 马 小鹿 鹿 狼 老虎 虎 狮子 猴子 猴 小猪 猪 小羊 羊 牛 老鼠 仓鼠 松鼠 鼠 公鸡 小鸡 鸡 鸭子 鸭 鹅 "
    "企鹅 乌龟 龟 青蛙 蛙 蝴蝶 蜗牛 蚂蚁 蜜蜂 大象 象 刺猬 凤凰 麒麟 人鱼 美人鱼"
)
_HEROES = _HEROES_TEXT.split()
# What a story can be about, but nobody who acts in it.
_THEMES_TEXT = (
    "爱情 友谊 友情 亲情 家庭 家 梦 梦想 梦境 理想 环保 保护环境 时间 时光 时间旅行 穿越 生命 死亡 孤独 勇气 希望 自由 回忆 记忆 "
    "青春 童年 成长 离别 重逢 战争 和平 幸福 快乐 悲伤 善良 诚实 信任 命运 未来 过去 科技 科幻 历史 春节 新年 中秋 中秋节 "
    "端午 端午节 元宵节 圣诞节 生日 毕业 高考 春天 夏天 秋天 冬天 末日 世界末日 冒险 旅行 校园生活 职场 美食 音乐 爱 故事"
)
_THEMES = frozenset(_THEMES_TEXT.split())
_HERO_WORD = re.compile("(?:" + "|".join(sorted(_HEROES, key=len, reverse=True)) + ")+")
_HERO_TRAIT = re.compile(r"(?:[小大老黑白花红灰胖瘦]|年轻|流浪|孤独的?|独眼|会飞的|古代|未来|神秘)*$")
_STRONG_STOP = re.compile(
    r"在|从|来到|想|要|遇|发现|看见|看到|和|与|跟|被|把|为了|是|正|每天|突然|忽然|终于|决定|学会|学着|独自|偶然|意外|踏上|走|跑|飞|爱上|"
    r"觉醒|苏醒|复活|诞生|醒来|大闹|大战|闹海|奔月|取经|打虎|补天|填海|射日|追日|移山|开始|寻找|找|救|住|捡|收到|追|变成|打败|守护|穿越|成为|带着|带|拿|做|有|去|不|没|爱"
)
_OPENER = re.compile(r"^(?:如果|假如|要是|原来|其实|我家的?|我们?|听说)")
_TIME_WORD = re.compile(
    r"以前|从前|夜晚|晚上|早上|清晨|黄昏|时候|那天|一天|天里|年|世纪|春|夏天|秋|冬天|今天|明天|昨天|夜里|深夜|末日|有一"
)
_PLACE_MARK = re.compile(
    r"(?:在|来到|走到|走进|回到|飞到|飞向|掉进|闯进|穿越到|住在|前往|去|到)(?:了)?(?>" + _COUNTED + r")?+"
    r"(?P<place>[^，。！？；、\s在]{1,8}?(?:上|里|中|下|边|旁|深处|之间|之上|之下|海底|内|外|前|后))"
)
_PLACES_TEXT = (
    "月球 月亮 火星 太空 宇宙 银河 星球 空间站 森林 树林 竹林 雨林 丛林 城市 都市 小镇 村庄 街道 小巷 夜市 海底 大海 "
    "海洋 海边 沙滩 海岛 小岛 灯塔 山顶 雪山 高山 山谷 悬崖 沙漠 草原 花园 田野 麦田 农场 学校 教室 校园 图书馆 书店 "
    "咖啡馆 茶馆 餐馆 医院 实验室 城堡 宫殿 古城 长安 江南 寺庙 古寺 云端 天空 雪原 冰原 湖边 河边 江边 公司 办公室 车站 地铁 "
    "火车 房间 家里 厨房 屋顶 天台 便利店 游乐园 博物馆 迷宫 废墟 江湖"
)
_PLACES = _PLACES_TEXT.split()
_PLACE_WORD = re.compile("|".join(sorted(_PLACES, key=len, reverse=True)))
_LOCALISER = re.compile(r"(?:上|里|中|下|边|旁|底|顶|外|前|深处|之间|端|岸)$")
_ON_TOP = re.compile(r"月球|月亮|江湖|火星|星球|岛|山|沙漠|草原|雪原|冰原|沙滩|街道|屋顶|天台|火车|地铁$")
_MET = re.compile(
    r"(?:遇到|遇见|遇上|碰到|碰见|发现|看见|看到|捡到|找到|爱上|救下|救了|认识|撞见|收到|结识|寻找|追踪|追捕|追查|打开|守护|打败|对抗|养了)(?:了)?"
    + _COUNTED
    + r"?(?P<met>[^，。！？；\s]{1,16})"
)
# Whom the hero is with: only known figures, or 和 would find a company in every list.
_WITH = re.compile(
    r"(?:与|和|跟|同|给|爱上)(?:了)?" + _COUNTED + r"?(?P<met>[^，。！？；、\s]{0,6}?(?:" + "|".join(_HEROES) + r"))"
)
_HOLDS = re.compile(r"[着有]" + _COUNTED + r"(?P<met>[^，。！？；\s]{1,12})$")
_TWO_ALIKE = re.compile(r"^[两二](?:[只个位名条头匹对群])")
_MET_TAIL = re.compile(r"一起|并且|并|然后|成为|变成|的时候|以后|之后|后$|于是|却|而|，|了$|在一")
_ACTION_LEAD = re.compile(
    r"^(?:正在|正|想要|想|要|每天都|每天|每晚|独自|一个人|一直|总是|突然|忽然|都|就|偷偷|悄悄|努力|负责|上|里|中)+"
)
_GOING = re.compile(r"(?:走|来|去|回|飞|跑|进|闯|掉|前往|穿越)")
_GAP = re.compile(r"(?<=[\u3400-\u9fff])[\s\W]*\s[\s\W]*(?=[\u3400-\u9fff])")
_ADDED = re.compile(r"[^\w\u3400-\u9fff，。！？；、,.!?;:：—…\n]+")
_SAYS_SOMETHING = re.compile(
    r"[在了着过是要想会能把被给遇找去到来学做住变说开叫让成守追救打]|发现|看见|看到|寻|爱上|失踪|消失|相爱|合租|大闹|大战|闹海|奔月|取经|打虎|补天|填海|射日|追日|移山"
)
_WHOLE = 6
_ZH_BREAK = re.compile(r"[，。！？；、,.!?;:：—…\n]+")


def read_chinese(idea: str) -> Premise:
    """The parts of a Chinese idea; quotation marks and emoji are passed over."""
    text = _ADDED.sub("", _GAP.sub("，", idea))
    clauses = tuple(clause for clause in _ZH_BREAK.split(text) if clause)
    if not clauses:
        return Premise(hero="", place="", action="", met="", clauses=())
    hero, after = _chinese_hero(clauses)
    place = _chinese_place(text)
    theme = text if _is_theme(text, hero) else ""
    if theme:
        return Premise(hero="", place=place, action="", met="", clauses=(), theme=theme)
    met = _chinese_met(text, hero=hero)
    if not met and _TWO_ALIKE.match(clauses[0]) and clauses[0].find(hero) <= 4:
        met = f"另一个{hero}"
    action = _chinese_action(after, place=place)
    return Premise(hero=hero, place=place, action=action, met=met, clauses=_whole_clauses(clauses), theme=_noun_phrase(clauses))


def _is_theme(text: str, hero: str) -> bool:
    """Whether the whole idea is a subject or a place, not somebody: 爱情, 月球, 1984."""
    place = _PLACE_WORD.match(text)
    bare = not any(char.isalpha() for char in hero) or (place is not None and len(text) - place.end() <= 1)
    return bare or text in _THEMES


def _noun_phrase(clauses: tuple[str, ...]) -> str:
    """The idea itself when it only names something (爷爷的旧收音机): no sentence, so it cannot be told as one."""
    only = clauses[0] if len(clauses) == 1 else ""
    return only if only and not _SAYS_SOMETHING.search(only) and len(only) <= 16 else ""


def _whole_clauses(clauses: tuple[str, ...]) -> tuple[str, ...]:
    """Clauses that can stand alone: one of a few characters (有一天) is read with what follows it."""
    whole: list[str] = []
    lead = ""
    for clause in clauses:
        lead = f"{lead}，{clause}" if lead else clause
        if len(lead) >= _WHOLE:
            whole.append(lead)
            lead = ""
    if lead and whole:
        whole[-1] = f"{whole[-1]}，{lead}"
    return tuple(whole) if whole else (lead,)


def _chinese_hero(clauses: tuple[str, ...]) -> tuple[str, str]:
    """The hero and what follows it in its clause."""
    for clause in clauses:
        for counted in re.finditer(_COUNTED, clause):
            rest = clause[counted.end() :]
            if _HERO_WORD.search(clause[: counted.start()]) or (
                clause[counted.start() - 1 : counted.start()] not in ("", "是") and _named_before_verb(clause)
            ):
                break
            head = _HERO_WORD.search(rest[:14])
            if head and not re.search(r"[在遇到]", rest[: head.start()]):
                return _trim_name(rest[: head.end()]), rest[head.end() :]
    for clause in clauses:
        name = _named_before_verb(clause)
        if name:
            return name, clause[clause.index(name) + len(name) :]
    for clause in clauses:
        head = _HERO_WORD.search(clause)
        if head:
            trait = _HERO_TRAIT.search(clause[: head.start()])
            return (trait.group() if trait else "") + head.group(), clause[head.end() :]
    return _leading_name(clauses)


def _named_before_verb(clause: str) -> str:
    """The two to four characters before the first verb or joint, when they can be somebody: 林小满每天…, 外卖骑手在."""
    stop = _STRONG_STOP.search(clause, 1)
    if stop is None or not 2 <= stop.start() <= 4 or clause[0] in "在有当":
        return ""
    name = _OPENER.sub("", clause[: stop.start()])
    return "" if len(name) < 2 or _TIME_WORD.search(name) or _PLACE_WORD.search(name) else name


def _leading_name(clauses: tuple[str, ...]) -> tuple[str, str]:
    clause = re.sub("^" + _COUNTED, "", clauses[0]) or clauses[0]
    stop = _STRONG_STOP.search(clause, 1)
    name = clause[: stop.start()] if stop else clause
    return _trim_name(name)[:6], clause[len(name) :]


def _trim_name(name: str) -> str:
    """At most 8 characters: descriptions are dropped from the left, whole ones first."""
    while len(name) > 8 and "的" in name[:-1]:
        name = name.split("的", 1)[1]
    return name[-8:]


def _chinese_place(text: str) -> str:
    for mark in _PLACE_MARK.finditer(text):
        place = mark["place"]
        if not _TIME_WORD.search(place) and not _MET.search(place) and len(place) > 1 and "了" not in place:
            return place
    known = _PLACE_WORD.search(text)
    if not known:
        return ""
    following = _LOCALISER.match(text[known.end() : known.end() + 1])
    place = known.group() + (following.group() if following else "")
    if _LOCALISER.search(place) or place == "江南":
        return place
    if place == "长安":
        return "长安城里"
    return place + ("上" if _ON_TOP.search(place) else "里")


def _chinese_met(text: str, *, hero: str) -> str:
    for pattern in (_MET, _WITH):
        for found in pattern.finditer(text):
            held = _HOLDS.search(found["met"])
            met = _MET_TAIL.split(held["met"] if held else found["met"])[0].strip("了着过")
            if met and met != hero and len(met) <= 12 and met not in ("它", "他", "她", "他们", "她们", "它们", "自己"):
                return met
    owned = re.search(rf"{re.escape(hero)}的([^，。！？；、\s]{{2,6}})$", text) if hero else None
    return owned[1] if owned and not _SAYS_SOMETHING.search(owned[1]) else ""


def _chinese_action(after: str, *, place: str) -> str:
    spot = after.find(place) if place else -1
    phrase = after[spot + len(place) :] if spot >= 0 else after
    phrase = _ACTION_LEAD.sub("", phrase)
    if (
        not phrase
        or _MET.match(phrase)
        or _GOING.match(phrase)
        or phrase[0] in "在的是有和与被把给其原竟没不会"
        or len(phrase) > 10
    ):
        return ""
    phrase = phrase.rstrip("了着的")
    # 等了三年 happened once; nobody is 正在等了三年.
    return "" if "了" in phrase else phrase
