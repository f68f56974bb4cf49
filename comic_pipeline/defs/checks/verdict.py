"""From findings to Dagster's result and to the row that the reconciler asks for."""

import json
from typing import Any

import dagster as dg
from pydantic import BaseModel

from comic_pipeline.defs.metadata import data_version
from comic_pipeline.model.verdict import Finding, Severity, Verdict
from comic_pipeline.quality.findings import closes_gate
from comic_pipeline.stages.studio import Studio
from comic_pipeline.store import verdicts


def give_verdict(studio: Studio, *, asset: str, check: str, document: BaseModel, findings: list[Finding]) -> dg.AssetCheckResult:
    """Record the verdict and show its findings: an ERROR closes the gate, a WARN is shown and goes to review.

    A gate that somebody opened for this very version of the data stays open.
    """
    closed, version = closes_gate(findings), data_version(document).value
    numbers = [finding.model_dump(mode="json") for finding in findings]
    with studio.desk.write() as (connection, now):
        before = verdicts.of_version(connection, studio.project.id, check=check, data_version=version)
        opened = before if closed and before is not None and before.override_by is not None else None
        severity = Severity.ERROR if (closed and opened is None) or not findings else Severity.WARN
        verdicts.record(
            connection,
            Verdict(
                project_id=studio.project.id,
                asset=asset,
                check=check,
                run_id=studio.desk.worker.run_id,
                data_version=version,
                passed=not closed or opened is not None,
                severity=severity,
                numbers=json.dumps(numbers, ensure_ascii=False),
                override_by=opened.override_by if opened else None,
                override_reason=opened.override_reason if opened else None,
                at=now,
            ),
        )
    return dg.AssetCheckResult(
        # A WARN is a failed check that does not block: shown in yellow, never hidden behind a green tick.
        passed=not findings,
        severity=dg.AssetCheckSeverity.ERROR if severity is Severity.ERROR else dg.AssetCheckSeverity.WARN,
        metadata=_shown(findings, opened),
    )


def _shown(findings: list[Finding], opened: Verdict | None) -> dict[str, dg.MetadataValue[Any]]:
    records = [
        dg.TableRecord(
            {
                "rule": one.rule,
                "severity": one.severity.value,
                "shot": one.seq,
                "measured": one.measured,
                "wanted": one.wanted,
            }
        )
        for one in findings
    ]
    found = dg.MetadataValue.table(records=records) if records else dg.MetadataValue.text("none")
    if opened is None:
        return {"findings": found}
    return {"findings": found, "opened_by": dg.MetadataValue.text(f"{opened.override_by}: {opened.override_reason}")}
