"""The two explicit policies for work that cannot be made. Both are said in QC; neither pretends."""

import json
from pathlib import Path

import pytest

from comic_pipeline.model.errors import ErrorCode
from comic_pipeline.model.media import FrameImages, VoiceLines
from comic_pipeline.model.workflow import ProjectState
from comic_pipeline.store import verdicts
from comic_pipeline_tests.acceptance.house import House
from comic_pipeline_tests.sandbox.faults import Route, api_error
from comic_pipeline_tests.sandbox.process import Sandbox
from comic_pipeline_tests.settings import sandbox_environment


def findings(house: House, project_id: str, check: str) -> list[tuple[str, str]]:
    """Rule and severity of what a check found."""
    with house.workshop.database.read() as connection:
        given = {one.check: one for one in verdicts.latest(connection, project_id)}
    return [(one["rule"], one["severity"]) for one in json.loads(given[check].numbers)]


def test_a_line_that_cannot_be_spoken_is_silence_and_a_warning(house: House, sandbox: Sandbox) -> None:
    """COMIC_ON_VOICE_FAILURE=silence, the default: the words stay on screen, the film is made, QC says WARN."""
    sandbox.admin.faults.add(
        Route.TTS_V3, api_error("45000010", status=401, message="load grant: requested grant not found"), times=50
    )
    end = house.produce("一只小猫在月球上种花")
    assert end.status == ProjectState.PENDING_REVIEW, (end.error_code, end.error_message)
    document = house.workshop.objects.get(f"projects/{end.project_id}/documents/voice_lines.json")
    lines = VoiceLines.model_validate_json(document).lines
    assert all(line.silenced and line.media is None for line in lines)
    assert set(findings(house, end.project_id, "voice_lines_qc")) == {("line_spoken", "WARN")}
    assert house.subtitles(end.project_id).cues


@pytest.mark.parametrize("policy", ["fail", "placeholder"])
def test_a_picture_that_cannot_be_made_fails_or_is_a_card(policy: str, tmp_path: Path, sandbox: Sandbox) -> None:
    """COMIC_ON_FRAME_FAILURE: by default a paid clip of a blank picture is waste; a card is made only on explicit wish."""
    house = House(tmp_path / "home", sandbox_environment(sandbox, COMIC_ON_FRAME_FAILURE=policy, COMIC_POLL_SECONDS="0.2"))
    fault = api_error("OutputImageSensitiveContentDetected", status=400)
    sandbox.admin.faults.add(Route.IMAGE, fault, times=50, match="shot 2 of 3")
    end = house.produce("一只小猫在月球上种花")
    document = house.workshop.objects
    if policy == "fail":
        assert (end.status, end.error_code) == (ProjectState.MANUAL_REQUIRED, ErrorCode.MODERATION_REJECTED), end.error_message
        assert "shot 1" in (end.error_message or "")
        assert sandbox.admin.books().video_jobs == 0
    else:
        frames = FrameImages.model_validate_json(document.get(f"projects/{end.project_id}/documents/frame_images.json"))
        assert [frame.fallback for frame in frames.frames] == [False, True, False]
        assert findings(house, end.project_id, "frame_images_qc") == [("picture_drawn", "WARN")]
        assert end.status == ProjectState.PENDING_REVIEW, (end.error_code, end.error_message)
    house.close()
