"""From findings to Dagster's result and to the row that the reconciler asks for."""

import json

import dagster as dg
from pydantic import BaseModel

from comic_pipeline.defs.metadata import data_version
from comic_pipeline.model.verdict import Finding, Severity, Verdict
from comic_pipeline.quality.findings import closes_gate
from comic_pipeline.stages.studio import Studio
from comic_pipeline.store import verdicts


def give_verdict(studio: Studio, *, asset: str, check: str, document: BaseModel, findings: list[Finding]) -> dg.AssetCheckResult:
    """Record the verdict and show its findings: an ERROR closes the gate, a WARN is shown and goes to review."""
    closed = closes_gate(findings)
    severity = Severity.ERROR if closed or not findings else Severity.WARN
    numbers = [finding.model_dump(mode="json") for finding in findings]
    with studio.desk.write() as (connection, now):
        verdicts.record(
            connection,
            Verdict(
                project_id=studio.project.id,
                asset=asset,
                check=check,
                run_id=studio.desk.worker.run_id,
                data_version=data_version(document).value,
                passed=not closed,
                severity=severity,
                numbers=json.dumps(numbers, ensure_ascii=False),
                at=now,
            ),
        )
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
    metadata = {"findings": dg.MetadataValue.table(records=records)} if records else {"findings": dg.MetadataValue.text("none")}
    return dg.AssetCheckResult(
        # A WARN is a failed check that does not block: shown in yellow, never hidden behind a green tick.
        passed=not findings,
        severity=dg.AssetCheckSeverity.ERROR if severity is Severity.ERROR else dg.AssetCheckSeverity.WARN,
        metadata=metadata,
    )
