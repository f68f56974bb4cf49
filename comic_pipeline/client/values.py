"""What goes in and what the calls return: frozen values. What a later deployment adds is ignored. Money is CNY, times are UTC."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Generic, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict

_Item = TypeVar("_Item")

# What runs are tagged with.
PROJECT, STAGE, REQUEST = "comic/project", "comic/stage", "comic/request"
ANSWER, REFUSAL, SUBMISSION, ERROR = "comic/answer", "comic/refusal", "comic/submission", "comic/error_code"
RUN_ENDED = frozenset({"SUCCESS", "FAILURE", "CANCELED"})


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Film(_Value):
    """What is asked for: an idea or a script. The words are those of the launchpad."""

    idea: str = ""
    script: str = ""
    style: str = "healing"
    duration: Literal["SHORT_15", "SHORT_30", "MEDIUM_60", "LONG_120"] = "SHORT_15"
    aspect: Literal["WIDE", "TALL", "SQUARE"] = "WIDE"
    resolution: Literal["HD", "FULL_HD"] = "HD"


class Answer(_Value):
    """What a request was answered with. While it waits in line there is no project yet: ask again with the same `key`."""

    key: str
    run_id: str
    submission_id: int
    status: str
    project_id: str | None = None
    reused: bool = False
    effective_immediately: bool | None = None
    running_at_provider: tuple[str, ...] = ()
    message_zh: str = ""
    message_en: str = ""
    message: str = ""

    @property
    def waits(self) -> bool:
        """Whether another film of the user has to be finished first."""
        return self.project_id is None


class CostLine(_Value):
    """One type of work at one provider; `reserved` is promised to calls that are under way."""

    task_type: str
    provider_id: str
    tasks: int
    attempts: int
    cost: Decimal
    reserved: Decimal


class Costs(_Value):
    """What a project has cost so far."""

    total: Decimal
    reserved: Decimal
    lines: tuple[CostLine, ...]


class Progress(_Value):
    """How far a project is: percent (100 also means ended without a film), pictures, seconds to go as of the last change."""

    percent: int
    frames_ready: int
    total_frames: int
    eta_seconds: int | None


class Status(_Value):
    """Where a project stands, as last told: at most some seconds old. `film_url` may be relative to the webserver."""

    project_id: str
    user_id: str
    tier: str
    title: str
    status: str
    words_zh: str
    words_en: str
    stage: str | None
    fail_stage: str | None
    progress: int
    frames_ready: int
    total_frames: int
    eta_seconds: int | None
    cost: Decimal
    retry_count: int
    error_code: str | None
    error_message: str | None
    cancel_requested: bool
    film: str | None
    film_url: str | None
    created_at: datetime
    updated_at: datetime
    finished_at: datetime | None
    costs: tuple[CostLine, ...]
    at: datetime

    @property
    def at_work(self) -> bool:
        """Whether it goes on by itself."""
        return self.status in ("QUEUED", "SCRIPT", "IMAGE", "TTS", "VIDEO", "COMPOSE")


class Moment(_Value):
    """One report of a project's history, and the run that gave it; empty when a sensor did."""

    status: Status
    run_id: str

    @classmethod
    def of(cls, event: Mapping[str, Any]) -> Self:
        """From a materialization of `project_status`."""
        (report,) = (entry["jsonString"] for entry in event["metadataEntries"] if entry["label"] == "report")
        return cls(status=Status.model_validate(json.loads(report)), run_id=event["runId"])


class Run(_Value):
    """One run of the deployment: a round of a stage, or a request of a person or a backend."""

    run_id: str
    job: str
    status: str
    stage: str | None
    project_id: str | None
    error_code: str | None
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    tags: dict[str, str]

    @classmethod
    def of(cls, node: Mapping[str, Any]) -> Self:
        """From a node of type Run."""
        tags = {tag["key"]: tag["value"] for tag in node["tags"]}
        return cls(
            run_id=node["runId"],
            job=node["jobName"],
            status=node["status"],
            stage=tags.get(STAGE),
            project_id=tags.get(PROJECT),
            error_code=tags.get(ERROR),
            created_at=_moment(node["creationTime"]),
            started_at=node["startTime"] and _moment(node["startTime"]),
            ended_at=node["endTime"] and _moment(node["endTime"]),
            tags=tags,
        )

    @property
    def ended(self) -> bool:
        """Whether its status is its last one."""
        return self.status in RUN_ENDED


class Event(_Value):
    """One line of a run's history."""

    kind: str
    message: str
    level: str
    step: str | None
    at: datetime

    @classmethod
    def of(cls, node: Mapping[str, Any]) -> Self:
        """From a message event of a run."""
        return cls(
            kind=node["eventType"] or node["__typename"],
            message=node["message"],
            level=node["level"],
            step=node["stepKey"],
            at=_moment(float(node["timestamp"]) / 1000),
        )


class Check(_Value):
    """The newest verdict of one gate on one project. `findings` are rows: rule, severity, shot, measured, wanted, meaning."""

    asset: str
    name: str
    state: str
    passed: bool | None
    severity: str | None
    findings: tuple[dict[str, Any], ...]
    run_id: str
    at: datetime

    @classmethod
    def of(cls, asset: str, name: str, node: Mapping[str, Any]) -> Self:
        """From an execution of the check."""
        evaluation = node["evaluation"] or {"metadataEntries": [], "success": None, "severity": None}
        tables = (entry["table"] for entry in evaluation["metadataEntries"] if entry["label"] == "findings" and "table" in entry)
        return cls(
            asset=asset,
            name=name,
            state=node["status"],
            passed=evaluation["success"],
            severity=evaluation["severity"],
            findings=tuple(json.loads(record) for table in tables for record in table["records"]),
            run_id=node["runId"],
            at=_moment(node["timestamp"]),
        )


class Page(_Value, Generic[_Item]):
    """Some items, and where the next page begins; None when there is none."""

    items: tuple[_Item, ...]
    next: str | None


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
