"""The rules of every gate in words, Chinese and English: what a reader of a finding, of the UI or of the review page is told.

Belongs here: names and meanings. Does not: limits (`thresholds.py`), deciding (one module a medium). A finding can
only be made for a rule that is listed here.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """What a rule asks for."""

    zh: str
    en: str


@dataclass(frozen=True)
class Gate:
    """One check: whose gate it is, what it asks in a sentence, and its rules by name."""

    asset: str
    zh: str
    en: str
    rules: dict[str, Rule]

    @property
    def description(self) -> str:
        """The gate for the UI, in Markdown: both languages and every rule."""
        lines = [f"- `{name}`: {rule.en} / {rule.zh}" for name, rule in self.rules.items()]
        return "\n".join([f"{self.en} / {self.zh}", "", *lines])


_LABEL = {
    "ai_label_seen": Rule("画面上有 AI 生成标识", "the AI label is seen in the picture"),
    "ai_mark_in_file": Rule("文件元数据中有 AIGC 标识", "the file carries the AIGC mark"),
}
_STORYBOARD = {
    "shot_for_every_shot": Rule("镜头齐全且不重复", "every shot is there exactly once"),
    "length_as_asked": Rule("总时长与所选时长相差不超过一成", "the total length is within 10 % of what was asked for"),
    "prompts_not_empty": Rule("画面描述和提示词不能为空", "no scene and no prompt is empty"),
    "speaker_known": Rule("台词要有说话人", "a dialogue has a speaker"),
    "speaker_in_frame": Rule("说话人出现在画面描述中", "the speaker is named in the picture's words"),
    "line_fits_shot": Rule("台词能在镜头时长内说完", "a line can be said within its shot"),
    "words_allowed": Rule("不含禁用词", "no banned word occurs"),
}
_FRAMES = {
    "picture_for_every_shot": Rule("每个镜头都有画面", "every shot has one picture"),
    "picture_readable": Rule("画面文件可以完整解码", "the picture decodes completely"),
    "type_as_named": Rule("文件类型与内容一致", "the file is of the type that it was stored as"),
    "has_a_size": Rule("画面有尺寸", "the picture has a size"),
    "aspect_as_asked": Rule("画面比例与影片一致", "the picture has the film's shape"),
    "large_enough": Rule("画面尺寸不小于影片", "the picture is at least as large as the film"),
    "picture_drawn": Rule("画面不是占位卡", "the picture is not a card in its place"),
    "not_flat": Rule("画面不是空白或单一颜色", "the picture is not blank or of one colour"),
    "bright_enough": Rule("画面明暗正常", "the picture is neither black nor white"),
    "sharp_enough": Rule("画面清晰", "the picture is not blurred"),
    "pictures_differ": Rule("不同镜头的画面不相同", "no two shots have the same picture"),
    **_LABEL,
}
_VOICES = {
    "line_for_every_shot": Rule("每个镜头都有对应台词条目", "every shot has one entry"),
    "line_spoken": Rule("台词已配音", "the line is spoken, not replaced by silence"),
    "voice_readable": Rule("配音文件可以完整解码", "the voice decodes completely"),
    "length_fits_text": Rule("配音时长与文字相符", "the voice is as long as a person could speak these words"),
    "not_silent": Rule("配音不是静音", "the voice is not silent"),
    "not_clipped": Rule("配音没有削波失真", "the voice is not clipped"),
    "loud_enough": Rule("配音响度足够", "the voice can be raised to the film's loudness"),
}
_CLIPS = {
    "clip_for_every_shot": Rule("每个镜头都有视频片段", "every shot has one clip"),
    "clip_readable": Rule("片段可以完整解码", "the clip decodes to its end"),
    "has_a_size": Rule("片段有尺寸", "the clip has a size"),
    "aspect_as_asked": Rule("片段比例与影片一致", "the clip has the film's shape"),
    "large_enough": Rule("片段尺寸不小于影片", "the clip is at least as large as the film"),
    "clip_long_enough": Rule("片段不短于镜头", "the clip is as long as its shot"),
    "clip_not_longer": Rule("片段不明显长于镜头", "the clip is not much longer than its shot"),
    "frame_rate": Rule("片段帧率正常", "the clip has the film's frame rate, or one that can be converted"),
    "not_black": Rule("片段没有黑屏", "the clip is nowhere black"),
    "moves": Rule("片段有动态，不是静止画面", "the clip moves"),
    "starts_from_its_picture": Rule("片段首帧与分镜画面一致", "the clip's first frame resembles its picture"),
    "no_unasked_sound": Rule("片段没有多余声音", "the clip has no sound that was not asked for"),
}
_FILM = {
    "video_is_h264_yuv420p": Rule("视频编码为 H.264 yuv420p", "the picture is H.264 in yuv420p, which plays everywhere"),
    "audio_is_aac": Rule("音频编码为 AAC", "the sound is AAC"),
    "size_as_asked": Rule("影片尺寸符合要求", "the film has the size that was asked for"),
    "frame_rate": Rule("影片帧率符合要求", "the film has the planned frame rate"),
    "length_as_planned": Rule("影片时长符合计划", "the film is as long as planned"),
    "picture_and_sound_start_together": Rule("音画同时开始", "picture and sound start together"),
    "sound_as_long_as_picture": Rule("音画同时结束", "picture and sound end together"),
    "loudness": Rule("响度为 -16 ±1 LUFS", "the loudness is -16 ±1 LUFS"),
    "true_peak": Rule("真峰值不高于 -1.5 dB", "the true peak is at most -1.5 dB"),
    "not_black": Rule("影片没有黑屏", "the film is nowhere black"),
    "soft_subtitles": Rule("影片带有可开关字幕轨", "the film has a subtitle track when something is said"),
    "every_cue_shown": Rule("字幕条数与计划一致", "the subtitle track shows every cue"),
    "glyphs_for_all_words": Rule("字体能显示字幕的每个字符", "the font can draw every character of the cues"),
    "starts_before_it_is_loaded": Rule("索引在文件开头，可边下边播", "the index is at the file's start (faststart)"),
    **_LABEL,
}

GATE_RULES: dict[str, Gate] = {
    "storyboard_qc": Gate(
        "storyboard",
        "分镜完整、时长符合要求、台词说得完",
        "The storyboard is complete, as long as asked, and speakable.",
        _STORYBOARD,
    ),
    "frame_images_qc": Gate(
        "frame_images",
        "每个镜头都有自己的、合格的画面",
        "Every shot has a picture of its own, in the film's shape, sharp and not blank; the copies that people see are labelled.",
        _FRAMES,
    ),
    "voice_lines_qc": Gate(
        "voice_lines",
        "每句台词都已配音，语速、响度正常",
        "Every line is spoken, at a plausible speed, audible and undistorted.",
        _VOICES,
    ),
    "clips_qc": Gate(
        "clips",
        "每个片段都能播放、有动态、从自己的画面开始",
        "Every clip plays to its end, moves, and starts from its picture.",
        _CLIPS,
    ),
    "final_video_qc": Gate(
        "final_video",
        "成片的画面、声音、字幕与计划一致",
        "The film is what was planned: streams, size, length, loudness, words, AI label.",
        _FILM,
    ),
    "cover_image_qc": Gate(
        "cover_image",
        "封面带有 AI 生成标识",
        "The cover, which people see first, says that AI made it.",
        _LABEL,
    ),
}
RULES: dict[str, Rule] = {name: rule for gate in GATE_RULES.values() for name, rule in gate.rules.items()}
