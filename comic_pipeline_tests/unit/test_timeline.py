"""The timeline: whole frames, no gaps, words never cut, no drift."""

from comic_pipeline.model.timeline import BREATH_AFTER_MS, BREATH_BEFORE_MS, plan_timeline

FPS = 24


def test_a_shot_without_words_lasts_as_long_as_its_clip() -> None:
    """Five seconds are 120 frames."""
    (shot,) = plan_timeline([(0, 5_000, None)], fps=FPS).shots
    assert (shot.start_ms, shot.end_ms, shot.voice_start_ms, shot.voice_end_ms) == (0, 5_000, None, None)


def test_a_clip_that_measures_a_little_off_keeps_its_frames() -> None:
    """Encoders deliver 4.99 or 5.01 s when 5 were asked for: no 121st frame, no held frame, no shortened one."""
    for measured in (4_985, 4_990, 5_000, 5_010, 5_020):
        assert plan_timeline([(0, measured, None)], fps=FPS).length_ms == 5_000, measured


def test_a_line_longer_than_its_clip_stretches_the_shot() -> None:
    """3 s clip, 5.2 s line (ZJT #411): the words and the breath around them fit."""
    (shot,) = plan_timeline([(0, 3_000, 5_200)], fps=FPS).shots
    assert shot.voice_start_ms == BREATH_BEFORE_MS
    assert shot.voice_end_ms == BREATH_BEFORE_MS + 5_200
    assert 5_700 - 21 <= shot.end_ms <= 5_700 + 42


def test_a_short_line_does_not_shorten_the_clip() -> None:
    """The clip is paid for and plays to its end."""
    assert plan_timeline([(0, 3_000, 1_000)], fps=FPS).length_ms == 3_000


def test_words_never_touch_the_cut() -> None:
    """For every length of line there is silence after it: at least the breath less half a frame."""
    for voice_ms in range(1, 3_000, 7):
        (shot,) = plan_timeline([(0, 500, voice_ms)], fps=FPS).shots
        assert shot.voice_end_ms is not None
        assert shot.end_ms - shot.voice_end_ms >= BREATH_AFTER_MS - 1_000 // FPS // 2 - 1, voice_ms


def test_shots_follow_one_another_without_gap_and_without_drift() -> None:
    """A thousand shots of 1.03 s: each begins where the last one ended, and every end is a whole frame."""
    timeline = plan_timeline([(seq, 1_030, None) for seq in range(1_000)], fps=FPS)
    for before, after in zip(timeline.shots, timeline.shots[1:], strict=False):
        assert before.end_ms == after.start_ms
    frames = [round(shot.end_ms * FPS / 1_000) for shot in timeline.shots]
    assert frames == list(range(frames[0], frames[0] * 1_000 + 1, frames[0]))


def test_lengths_turn_back_into_the_same_number_of_frames() -> None:
    """The film counts frames from `length_ms`; rounding down to milliseconds must not lose one."""
    timeline = plan_timeline([(seq, 41 + seq * 13, None) for seq in range(200)], fps=FPS)
    counted = sum(round(shot.length_ms * FPS / 1_000) for shot in timeline.shots)
    assert counted == round(timeline.length_ms * FPS / 1_000)


def test_every_shot_is_seen_for_at_least_one_frame() -> None:
    """A broken length of 0 or a clip of 0.3 s is no reason to lose a shot."""
    timeline = plan_timeline([(0, 0, None), (1, 300, None)], fps=FPS)
    assert [shot.length_ms > 0 for shot in timeline.shots] == [True, True]


def test_voices_are_placed_in_film_time() -> None:
    """The second line starts after the first shot and a breath."""
    first, second = plan_timeline([(0, 2_000, 500), (1, 2_000, 700)], fps=FPS).shots
    assert (first.voice_start_ms, first.voice_end_ms) == (150, 650)
    assert (second.voice_start_ms, second.voice_end_ms) == (2_150, 2_850)


def test_a_film_without_shots_has_no_length() -> None:
    """Zero, not an IndexError."""
    assert plan_timeline([], fps=FPS).length_ms == 0
