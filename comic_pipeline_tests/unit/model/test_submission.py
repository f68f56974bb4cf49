"""Payloads of submissions: what a redo and a cancel may say."""

import pytest
from pydantic import ValidationError

from comic_pipeline.model.errors import Refused
from comic_pipeline.model.storyboard import OverrideField, Overrides, ShotOverride
from comic_pipeline.model.submission import Answer, CancelRequest, RedoRequest
from comic_pipeline.model.workflow import Stage


@pytest.mark.parametrize(
    ("stage", "take", "words"),
    [
        (Stage.FRAMES, OverrideField.TAKE_FRAMES, OverrideField.IMAGE_PROMPT),
        (Stage.VOICES, OverrideField.TAKE_VOICES, OverrideField.SPOKEN),
        (Stage.CLIPS, OverrideField.TAKE_CLIPS, OverrideField.MOTION_PROMPT),
    ],
)
def test_a_redo_changes_the_words_that_its_stage_reads(stage: Stage, take: OverrideField, words: OverrideField) -> None:
    """The next take of the shot, and the prompt where that stage looks for it."""
    before = Overrides(items=(ShotOverride(seq=1, field=take, value="2"),))
    wishes = RedoRequest(stage=stage, prompt=" a dog ").overrides(1, before)
    assert {wish.field: wish.value for wish in wishes} == {take: "3", words: "a dog"}
    assert {wish.field: wish.value for wish in RedoRequest(stage=stage).overrides(0, before)} == {take: "1"}


@pytest.mark.parametrize(("stage", "field"), [(Stage.FRAMES, OverrideField.SEED), (Stage.CLIPS, OverrideField.CLIP_SEED)])
def test_pictures_and_clips_take_a_seed_each(stage: Stage, field: OverrideField) -> None:
    """Zero is a seed, not the lack of one; a clip's new seed must not make, and pay, the shot's picture anew."""
    wishes = RedoRequest(stage=stage, seed=0).overrides(1, Overrides())
    assert ShotOverride(seq=1, field=field, value="0") in wishes


@pytest.mark.parametrize(
    "payload",
    [
        {"stage": "film", "shots": [0]},
        {"stage": "film", "prompt": "brighter"},
        {"stage": "film", "seed": 1},
        {"stage": "voices", "seed": 1},
        {"stage": "frames", "seed": -1},
        {"stage": "frames", "seed": 2**31},
        {"stage": "frames", "seed": "one"},
        {"stage": "frames", "shots": "all"},
        {"stage": "frames", "shots": ["first"]},
        {"stage": "frames", "shots": [1.5]},
        {"stage": "pictures"},
        {"stage": "frames", "prompts": "x"},
        {},
    ],
    ids=str,
)
def test_a_redo_that_cannot_be_meant_is_refused(payload: dict[str, object]) -> None:
    """A seed stored for the film would change the first picture of a later round."""
    with pytest.raises(ValidationError):
        RedoRequest.model_validate(payload)


@pytest.mark.parametrize("text", ["a\x00b", "a\ud800b", "x" * 2_001])
def test_words_of_a_redo_and_a_cancel_must_be_text(text: str) -> None:
    """They are stored and sent like an idea is."""
    with pytest.raises(Refused):
        RedoRequest(stage=Stage.FRAMES, prompt=text)
    with pytest.raises(Refused):
        CancelRequest(reason=text)


def test_an_answer_survives_its_row() -> None:
    """It is stored as JSON and read back by another program."""
    answer = Answer(
        project_id="p1", status="IMAGE", effective_immediately=False, running_at_provider=("t1",), message_zh="已请求取消"
    )
    assert Answer.model_validate_json(answer.model_dump_json()) == answer
