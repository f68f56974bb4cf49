"""What operators do from the UI, and the backend over GraphQL: jobs that write one submission and decide it, nothing else.

Each answers in its run: tags `comic/project`, `comic/submission` and `comic/answer` (JSON), the same as metadata of its output,
and a failure with `comic/error_code` and `comic/refusal` (JSON) when the request is refused. A failure without a refusal says
nothing about the request: started again with its `key` the job answers. Started twice with one `key` it acts once.
"""

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import dagster as dg
from pydantic import BaseModel, Field

from comic_pipeline import service
from comic_pipeline.defs.failing import failure_of
from comic_pipeline.defs.reporting import status_event
from comic_pipeline.model.errors import ERROR_RULES, ComicError, StorageFault
from comic_pipeline.model.project import Aspect, DurationBucket, RawProduceRequest, Resolution, Tier
from comic_pipeline.model.review import Decision, ReviewRequest
from comic_pipeline.model.submission import Answer, CancelRequest, RedoRequest
from comic_pipeline.model.workflow import PROJECT_TAG, Stage, SubmissionKind
from comic_pipeline.stages.workshop import Workshop
from comic_pipeline.store import submissions
from comic_pipeline.store.submissions import NewSubmission

ANSWER_TAG = "comic/answer"
REFUSAL_TAG = "comic/refusal"
SUBMISSION_TAG = "comic/submission"
_PROJECT = Field(description="Project id, the partition key: p-20261130-0123456789. 项目编号")
_BY = Field(default="operator", description="Who asks; recorded. 操作人")
_KEY = Field(default="", description="Idempotency key: the same key of the same person acts only once. Empty: none. 幂等键")


class Redoable(StrEnum):
    """What the launchpad offers to make anew; the words are those of `Stage`."""

    FRAMES = "frames"
    VOICES = "voices"
    CLIPS = "clips"
    FILM = "film"


class SubmitConfig(dg.Config):
    """A new film. Give an idea or a script."""

    idea: str = Field(default="", description="One sentence about what happens. 一句话创意")
    script: str = Field(default="", description="A whole script instead of an idea. 完整剧本")
    style: str = Field(default="healing", description="healing, ink, cyber, comedy, suspense, fantasy, or the Chinese name. 画风")
    duration: DurationBucket = Field(default=DurationBucket.SHORT_15, description="3 shots of 5 s, 3 of 10 s, 6, or 12. 时长")
    aspect: Aspect = Field(default=Aspect.WIDE, description="WIDE 16:9, TALL 9:16, SQUARE 1:1. 画幅")
    resolution: Resolution = Field(default=Resolution.HD, description="HD 720p or FULL_HD 1080p. 清晰度")
    user: str = Field(description="Whose film it is; quotas and the waiting line go by it. 用户")
    tier: Tier = Field(default=Tier.FREE, description="FREE, PREVIEW, PAID or PREMIUM: budget, quota, priority. 等级")
    key: str = _KEY


class RetryConfig(dg.Config):
    """Go on from the stage that failed; nothing finished is paid again."""

    project: str = _PROJECT
    by: str = _BY
    key: str = _KEY


class RedoConfig(dg.Config):
    """Make some shots anew, and what depends on them; old versions stay reachable."""

    project: str = _PROJECT
    stage: Redoable = Field(description="FRAMES, VOICES, CLIPS or FILM: what is to be made anew. 重做环节")
    shots: list[int] = Field(default=[], description="Shot numbers from 0; empty: all. 镜头编号")
    prompt: str = Field(default="", description="New words for these shots; empty: the old ones. 新的提示词")
    seed: int | None = Field(default=None, description="New seed for these shots; empty: another one by itself. 随机种子")
    by: str = _BY
    key: str = _KEY


class CancelConfig(dg.Config):
    """Stop a project after its current step. Finished and running paid work is kept."""

    project: str = _PROJECT
    reason: str = Field(default="", description="Why; shown in its status. 取消原因")
    force: bool = Field(default=False, description="Also terminate the run that is at work. 强制终止")
    by: str = _BY
    key: str = _KEY


class ReviewConfig(dg.Config):
    """Approve a film for release, or reject it; a rejection that names a stage has these shots made anew."""

    project: str = _PROJECT
    decision: Decision = Field(description="APPROVE or REJECT. 审核结论")
    by: str = Field(description="Who decides; recorded. 审核人")
    note: str = Field(default="", description="Why. 备注")
    stage: Redoable | None = Field(default=None, description="With REJECT: FRAMES, VOICES, CLIPS or FILM are made anew. 重做环节")
    shots: list[int] = Field(default=[], description="With a stage: which shots; empty: all. 镜头编号")
    key: str = _KEY


@dg.op(
    required_resource_keys={"workshop"}, description="Writes the request for a film and admits it, if its user may have one now."
)
def submit_film(context: dg.OpExecutionContext, config: SubmitConfig) -> dg.Output[dict[str, Any]]:
    """Answer with the project, or with the submission that waits in line."""
    asked = RawProduceRequest(
        idea=config.idea,
        script=config.script,
        style=config.style,
        duration=config.duration.value,
        aspect=config.aspect.value,
        resolution=config.resolution.value,
    )
    payload = asked.model_dump_json(exclude_defaults=True)
    return _carry_out(context, SubmissionKind.PRODUCE, user=config.user, payload=payload, key=config.key, tier=config.tier)


@dg.op(required_resource_keys={"workshop"}, description="Goes on from where a project stopped.")
def retry_stopped(context: dg.OpExecutionContext, config: RetryConfig) -> dg.Output[dict[str, Any]]:
    """A new round, with a fresh allowance, for each stage that did not pass."""
    return _carry_out(context, SubmissionKind.RETRY, project=config.project, user=config.by, payload="{}", key=config.key)


@dg.op(required_resource_keys={"workshop"}, description="Has shots made anew.")
def redo_stage(context: dg.OpExecutionContext, config: RedoConfig) -> dg.Output[dict[str, Any]]:
    """What is wanted is stored as overrides, so that no later run flips it back."""
    return _carry_out(
        context,
        SubmissionKind.REDO,
        project=config.project,
        user=config.by,
        payload=_payload(
            RedoRequest, stage=Stage(config.stage), shots=tuple(config.shots), prompt=config.prompt, seed=config.seed
        ),
        key=config.key,
    )


@dg.op(required_resource_keys={"workshop"}, description="Stops a project after its current step.")
def cancel_work(context: dg.OpExecutionContext, config: CancelConfig) -> dg.Output[dict[str, Any]]:
    """The answer says whether it took effect at once, and what still runs at providers."""
    payload = _payload(CancelRequest, reason=config.reason, force=config.force)
    return _carry_out(context, SubmissionKind.CANCEL, project=config.project, user=config.by, payload=payload, key=config.key)


@dg.op(required_resource_keys={"workshop"}, description="Records a review and what follows from it.")
def review_film(context: dg.OpExecutionContext, config: ReviewConfig) -> dg.Output[dict[str, Any]]:
    """Approval releases the film; a rejection ends it or has shots made anew."""
    payload = _payload(
        ReviewRequest,
        decision=config.decision,
        by=config.by,
        note=config.note,
        stage=None if config.stage is None else Stage(config.stage),
        shots=tuple(config.shots),
    )
    return _carry_out(context, SubmissionKind.REVIEW, project=config.project, user=config.by, payload=payload, key=config.key)


def _payload(kind: type[BaseModel], **values: Any) -> str:
    """The request as JSON, not yet judged: the door does that, and answers in words."""
    return kind.model_construct(**values).model_dump_json(exclude_none=True)


def _carry_out(
    context: dg.OpExecutionContext,
    kind: SubmissionKind,
    *,
    user: str,
    payload: str,
    key: str,
    project: str | None = None,
    tier: Tier = Tier.FREE,
) -> dg.Output[dict[str, Any]]:
    workshop: Workshop = context.resources.workshop
    new = NewSubmission(kind=kind, user_id=user, tier=tier, payload=payload, project_id=project, key=key or None)
    try:
        answer = _decide(context, workshop, new)
    except StorageFault as fault:
        # No refusal: whether the request was carried out before is not known, and the same key finds out.
        raise failure_of(context, fault) from fault
    except ComicError as refused:
        _tell(context, {REFUSAL_TAG: _in_words(refused)})
        raise failure_of(context, refused) from refused
    return dg.Output(dict(answer), metadata={name: dg.MetadataValue.text(str(value)) for name, value in answer.items()})


def _decide(context: dg.OpExecutionContext, workshop: Workshop, new: NewSubmission) -> Mapping[str, Any]:
    house = service.house_of(workshop.settings, now=workshop.clock.now())
    with workshop.database.write() as connection:
        submission = service.submit(connection, new, now=house.now)
        if submission.decided_at is None:
            service.decide(connection, submission, house)
    _tell(context, {SUBMISSION_TAG: str(submission.id)})
    with workshop.database.read() as connection:
        decided = submissions.get(connection, submission.id)
        if decided is not None and decided.answer is None and decided.error_code is None:
            waiting = {"submission_id": submission.id, "status": decided.status.value, "message": decided.error_message or ""}
            _tell(context, {ANSWER_TAG: json.dumps(waiting, ensure_ascii=False)})
            return waiting
        answer: Answer = service.answer_of(connection, submission.id)
        # Whoever reads the answer and then the status must not find the status of before.
        context.log_event(status_event(workshop, connection, answer.project_id))
    _tell(context, {PROJECT_TAG: answer.project_id, ANSWER_TAG: answer.model_dump_json(exclude_defaults=True)})
    return {"submission_id": submission.id, **answer.model_dump(mode="json", exclude_defaults=True)}


def _in_words(refused: ComicError) -> str:
    rule = ERROR_RULES[refused.code]
    said = {"error_code": refused.code, "detail": refused.detail, "message_zh": rule.zh, "message_en": rule.en}
    return json.dumps(said, ensure_ascii=False)


def _tell(context: dg.OpExecutionContext, tags: dict[str, str]) -> None:
    context.instance.add_run_tags(context.run.run_id, tags)


# Above every stage run: a person is waiting.
_TAGS = {"comic/kind": "operator", "dagster/priority": "60", "dagster/max_runtime": "300"}


@dg.job(tags=_TAGS, description="Make a new film from an idea or a script. 提交新项目")
def submit_project() -> None:
    """One submission."""
    submit_film()


@dg.job(tags=_TAGS, description="Go on from the stage that failed; nothing finished is paid again. 从失败处重试")
def retry_project() -> None:
    """One submission."""
    retry_stopped()


@dg.job(tags=_TAGS, description="Make some shots anew, and what depends on them. 重做镜头")
def redo_shots() -> None:
    """One submission."""
    redo_stage()


@dg.job(tags=_TAGS, description="Stop a project after its current step. 取消项目")
def cancel_project() -> None:
    """One submission."""
    cancel_work()


@dg.job(tags=_TAGS, description="Approve a film for release, or reject it. 审核成片")
def review_project() -> None:
    """One submission."""
    review_film()


OPERATOR_JOBS = [submit_project, retry_project, redo_shots, cancel_project, review_project]
