"""The run of a stage row: its job and its tags, the same however the run is started."""

from collections.abc import Mapping
from dataclasses import dataclass

from comic_pipeline.model.limits import PRIORITY
from comic_pipeline.model.project import Project
from comic_pipeline.model.stage import StageRow
from comic_pipeline.model.workflow import PROJECT_TAG, STAGE_ID_TAG, STAGE_RULES, Stage
from comic_pipeline.settings import Settings


@dataclass(frozen=True)
class Launch:
    """One run to start: one round of one stage."""

    stage_id: str
    project_id: str
    stage: Stage
    job: str
    tags: Mapping[str, str]


def launch_of(row: StageRow, project: Project, settings: Settings) -> Launch:
    """The run of a stage row, with every tag that limits, locks, look-ups and time-outs go by."""
    rule = STAGE_RULES[row.stage]
    return Launch(
        stage_id=row.id,
        project_id=project.id,
        stage=row.stage,
        job=rule.job,
        tags={STAGE_ID_TAG: row.id, **stage_tags(row.stage, project, settings), "dagster/priority": str(row.priority)},
    )


def stage_tags(stage: Stage, project: Project, settings: Settings) -> dict[str, str]:
    """Tags that any run of this stage carries, however it was started."""
    rule = STAGE_RULES[stage]
    tags = {
        "comic/kind": "stage",
        PROJECT_TAG: project.id,
        "comic/user": tag_value(project.user_id),
        "comic/stage": stage.value,
        "comic/queue": rule.queue,
        "dagster/max_runtime": str(max_runtime(stage, settings)),
        "dagster/priority": str(PRIORITY[project.tier]),
    }
    tags |= {f"comic.provider/{provider}": "1" for provider in settings.providers_of(stage)}
    return tags | ({"comic/lock": project.id} if rule.serial else {})


def max_runtime(stage: Stage, settings: Settings) -> int:
    """Seconds that a stage run may take: every round's deadline, the waits between rounds, and a minute to start and end."""
    rounds = settings.max_retry + 1
    waits = [settings.retry_delays[min(index, len(settings.retry_delays) - 1)] * 1.1 for index in range(settings.max_retry)]
    return int(STAGE_RULES[stage].deadline * rounds + sum(waits) + 60)


def tag_value(text: str) -> str:
    """User text as a tag value: printable, at most 63 characters."""
    return "".join(char if char.isalnum() or char in "-_.@" else "_" for char in text)[:63]
