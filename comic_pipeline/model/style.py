"""The looks a film can have: words for the picture model, a palette for the offline artist, a mood for the music."""

from pydantic import BaseModel, ConfigDict


class Style(BaseModel):
    """One look. `palette` is five RGB hex colours: sky, ground, light, figure, accent."""

    model_config = ConfigDict(frozen=True)

    key: str
    zh: str
    en: str
    picture_words: str
    palette: tuple[str, str, str, str, str]
    mood: str


def _style(key: str, zh: str, en: str, picture_words: str, *, palette: str, mood: str) -> Style:
    sky, ground, light, figure, accent = palette.split()
    return Style(key=key, zh=zh, en=en, picture_words=picture_words, palette=(sky, ground, light, figure, accent), mood=mood)


STYLES: dict[str, Style] = {
    style.key: style
    for style in (
        _style(
            "healing",
            "治愈系动漫",
            "healing anime",
            "soft healing anime, warm light, clean line art, gentle pastel colours, cel shading",
            palette="#8ecae6 #b7e4c7 #fff3b0 #f4845f #9d4edd",
            mood="calm",
        ),
        _style(
            "ink",
            "水墨国风",
            "ink wash",
            "Chinese ink wash painting, rice paper texture, flowing brush lines, misty mountains",
            palette="#e9e4d4 #a3a695 #f7f3e3 #2b2d2f #b23a48",
            mood="ancient",
        ),
        _style(
            "cyber",
            "赛博朋克",
            "cyberpunk",
            "cyberpunk comic, neon light, rain-wet streets, strong contrast, magenta and cyan",
            palette="#240046 #10002b #00f5d4 #f15bb5 #fee440",
            mood="electric",
        ),
        _style(
            "comedy",
            "搞笑日常",
            "slice-of-life comedy",
            "bright gag manga, bold outlines, exaggerated expressions, flat colours",
            palette="#ffe066 #f7c59f #ffffff #247ba0 #f25f5c",
            mood="playful",
        ),
        _style(
            "suspense",
            "悬疑惊悚",
            "suspense",
            "dark suspense graphic novel, hard shadows, cold desaturated colours, film noir framing",
            palette="#1b263b #0d1b2a #e0e1dd #778da9 #c1121f",
            mood="tense",
        ),
        _style(
            "fantasy",
            "奇幻冒险",
            "fantasy adventure",
            "epic fantasy comic, luminous magic, wide vistas, rich painterly colours",
            palette="#5a189a #3c6e71 #ffd166 #ef476f #06d6a0",
            mood="heroic",
        ),
    )
}
