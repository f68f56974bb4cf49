"""The voices that services have, in the order in which they are given out: the first one is the narrator's.

Belongs here: names with what they sound like, and reading a configured list. Does not: who gets which (`model/voices.py`).
Names of Volcengine's public list, read 2026-11; those of one generation must not be used with the other's resource.
"""

import re

from comic_pipeline.model.voices import Age, Gender, Voice

_F, _M = Gender.FEMALE, Gender.MALE

_SEED_2: tuple[Voice, ...] = (
    Voice("zh_female_vv_uranus_bigtts", _F),
    Voice("zh_male_m191_uranus_bigtts", _M),
    Voice("zh_female_xiaohe_uranus_bigtts", _F),
    Voice("zh_male_taocheng_uranus_bigtts", _M, Age.YOUNG),
    Voice("zh_female_linjianvhai_uranus_bigtts", _F, Age.YOUNG),
    Voice("zh_male_ruyayichen_uranus_bigtts", _M),
    Voice("zh_female_cancan_uranus_bigtts", _F),
    Voice("zh_male_shaonianzixin_uranus_bigtts", _M, Age.CHILD),
    Voice("zh_female_tianmeixiaoyuan_uranus_bigtts", _F, Age.CHILD),
    Voice("zh_male_yuanboxiaoshu_uranus_bigtts", _M, Age.OLD),
    Voice("zh_female_shuangkuaisisi_uranus_bigtts", _F),
    Voice("zh_male_liufei_uranus_bigtts", _M),
)
_SEED_1: tuple[Voice, ...] = (
    Voice("zh_female_shuangkuaisisi_moon_bigtts", _F),
    Voice("zh_male_wennuanahu_moon_bigtts", _M),
    Voice("zh_female_cancan_mars_bigtts", _F),
    Voice("zh_male_yangguangqingnian_moon_bigtts", _M, Age.YOUNG),
    Voice("zh_female_linjianvhai_moon_bigtts", _F, Age.YOUNG),
    Voice("zh_male_yuanboxiaoshu_moon_bigtts", _M, Age.OLD),
    Voice("zh_female_gaolengyujie_moon_bigtts", _F),
    Voice("zh_male_shaonianzixin_moon_bigtts", _M, Age.CHILD),
    Voice("zh_female_tianmeixiaoyuan_moon_bigtts", _F, Age.CHILD),
    Voice("zh_male_linjiananhai_moon_bigtts", _M, Age.YOUNG),
)
# Those that gpt-4o-mini-tts and tts-1 both have (OpenAI's speech guide, 2025-11).
OPENAI_VOICES: tuple[Voice, ...] = (
    Voice("alloy"),
    Voice("echo", _M),
    Voice("nova", _F, Age.YOUNG),
    Voice("onyx", _M),
    Voice("shimmer", _F),
    Voice("fable", _M, Age.YOUNG),
    Voice("coral", _F),
    Voice("ash", _M, Age.OLD),
    Voice("sage", _F, Age.CHILD),
)
_KNOWN = {voice.name: voice for voice in (*_SEED_2, *_SEED_1, *OPENAI_VOICES)}


def openspeech_voices(resource: str, *, one_shot: bool) -> tuple[Voice, ...]:
    """The public voices of a resource, or of the one-shot API's cluster; none for cloned ones: only their owner knows them."""
    if "icl" in resource:
        return ()
    return _SEED_1 if one_shot or resource.startswith("seed-tts-1") else _SEED_2


def read_voices(text: str) -> tuple[Voice, ...]:
    """A configured list, separated by commas; what a voice is like is taken from the catalog, else from its name."""
    names = dict.fromkeys(name.strip() for name in text.split(","))
    return tuple(_KNOWN.get(name) or Voice(name, _gender_by_name(name)) for name in names if name)


def _gender_by_name(name: str) -> Gender | None:
    words = re.split(r"[^a-z]+", name.lower())
    return _F if "female" in words else _M if "male" in words else None
