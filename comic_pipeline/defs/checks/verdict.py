"""From findings to Dagster's result and to the row that the reconciler asks for."""

import json
from collections.abc import Iterable
from typing import Any

import dagster as dg
from pydantic import BaseModel

from comic_pipeline.defs.metadata import Metadata, Row, data_version, picture, shot_table
from comic_pipeline.defs.partitions import PROJECTS
from comic_pipeline.model.media import MediaRef
from comic_pipeline.model.verdict import Finding, Severity, Verdict
from comic_pipeline.quality.findings import closes_gate
from comic_pipeline.quality.rules import GATE_RULES, RULES
from comic_pipeline.stages.studio import Studio
from comic_pipeline.store import verdicts


def gate(check: str) -> dict[str, Any]:
    """The arguments that all gates share in `dg.asset_check`; the description lists the gate's rules in both languages."""
    return {
        "asset": GATE_RULES[check].asset,
        "name": check,
        "description": GATE_RULES[check].description,
        "partitions_def": PROJECTS,
        "blocking": True,
        "required_resource_keys": {"workshop"},
    }


def give_verdict(
    studio: Studio,
    *,
    check: str,
    document: BaseModel,
    findings: list[Finding],
    measured: Iterable[Row],
    proof: MediaRef | None = None,
) -> dg.AssetCheckResult:
    """Record the verdict and show its findings and the numbers of all shots, also of the good ones.

    An ERROR closes the gate, a WARN is shown and goes to review. A gate that somebody opened for this very version of the data
    stays open. `proof` is a stored picture of what is at fault.
    """
    verdict = _record(studio, check, findings, version=data_version(document).value)
    shown: Metadata = {"findings": _finding_table(findings), "measured": shot_table(measured)}
    if proof is not None:
        shown["proof"] = picture(studio.desk.objects, proof)
    if verdict.override_by is not None:
        shown["opened_by"] = dg.MetadataValue.text(f"{verdict.override_by}: {verdict.override_reason}")
    return dg.AssetCheckResult(
        # A WARN is a failed check that does not block: shown in yellow, never hidden behind a green tick.
        passed=not findings,
        severity=dg.AssetCheckSeverity.ERROR if verdict.severity is Severity.ERROR else dg.AssetCheckSeverity.WARN,
        metadata=shown,
    )


def as_it_is(result: dg.AssetCheckResult) -> dg.AssetCheckResult:
    """A check's body gives Dagster's value itself: its proof is stored before, in the stage's own loop."""
    return result


def _record(studio: Studio, check: str, findings: list[Finding], *, version: str) -> Verdict:
    closed = closes_gate(findings)
    numbers = [finding.model_dump(mode="json") for finding in findings]
    with studio.desk.write() as (connection, now):
        before = verdicts.of_version(connection, studio.project.id, check=check, data_version=version)
        opened = before if closed and before is not None and before.override_by is not None else None
        verdict = Verdict(
            project_id=studio.project.id,
            asset=GATE_RULES[check].asset,
            check=check,
            run_id=studio.desk.worker.run_id,
            data_version=version,
            passed=not closed or opened is not None,
            severity=Severity.ERROR if (closed and opened is None) or not findings else Severity.WARN,
            numbers=json.dumps(numbers, ensure_ascii=False),
            override_by=opened.override_by if opened else None,
            override_reason=opened.override_reason if opened else None,
            at=now,
        )
        verdicts.record(connection, verdict)
    return verdict


def _finding_table(findings: list[Finding]) -> dg.MetadataValue[Any]:
    if not findings:
        return dg.MetadataValue.text("none")
    return shot_table(
        {
            "rule": one.rule,
            "severity": one.severity.value,
            "shot": one.seq,
            "measured": one.measured,
            "wanted": one.wanted,
            "meaning": f"{RULES[one.rule].en} / {RULES[one.rule].zh}",
        }
        for one in findings
    )
