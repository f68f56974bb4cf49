"""Rounds of stages as values, with times in seconds after NOW."""

from comic_pipeline.model.stage import StageRow
from comic_pipeline.model.workflow import OPEN_STAGE_STATUSES, Stage, StageStatus
from comic_pipeline_tests.builders import later

Rounds = dict[Stage, StageRow]


def a_round(
    stage: Stage,
    status: StageStatus = StageStatus.PASSED,
    *,
    requested: float = 0,
    ended: float = 1,
    run: str | None = None,
    number: int = 1,
) -> StageRow:
    """One round; an open one has no end."""
    return StageRow(
        id=f"{stage}-{number}",
        project_id="p1",
        stage=stage,
        round=number,
        scope=None,
        status=status,
        run_id=run or f"run-{stage}-{number}",
        heartbeat_at=None,
        priority=20,
        error_code=None,
        error_message=None,
        requested_at=later(requested),
        queued_at=None,
        started_at=None,
        waited_seconds=0.0,
        ended_at=None if status in OPEN_STAGE_STATUSES else later(ended),
    )


def rounds(*rows: StageRow) -> Rounds:
    """The latest round of each stage."""
    return {row.stage: row for row in rows}


def all_made() -> Rounds:
    """A finished project: each stage requested when its last need had ended."""
    return rounds(
        a_round(Stage.STORYBOARD, requested=0, ended=10),
        a_round(Stage.FRAMES, requested=10, ended=30),
        a_round(Stage.VOICES, requested=10, ended=20),
        a_round(Stage.CLIPS, requested=30, ended=40),
        a_round(Stage.FILM, requested=40, ended=50),
    )
