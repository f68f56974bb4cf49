"""A verdict: what one check found about one version of one asset's data."""

from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, TypeAdapter


class Severity(StrEnum):
    """ERROR closes the gate; WARN is shown and goes to review."""

    ERROR = "ERROR"
    WARN = "WARN"


class Finding(BaseModel):
    """One thing that is wrong. `seq` names the shot, None the whole. `measured` and `wanted` are numbers or words for people."""

    model_config = ConfigDict(frozen=True)

    rule: str
    severity: Severity
    seq: int | None
    measured: str
    wanted: str


class Verdict(BaseModel):
    """One row of `verdicts`. `numbers` is JSON text: the findings."""

    model_config = ConfigDict(frozen=True)

    project_id: str
    asset: str
    check: str
    run_id: str
    data_version: str
    passed: bool
    severity: Severity
    numbers: str
    override_by: str | None = None
    override_reason: str | None = None
    at: datetime

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was found; a verdict that passed may hold warnings."""
        return _FINDINGS.validate_json(self.numbers)


_FINDINGS = TypeAdapter(tuple[Finding, ...])
