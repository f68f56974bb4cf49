"""Between two assets stands a gate: what is downstream asks for the verdict about this very version before it works."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import pytest
from pydantic import BaseModel

from comic_pipeline.definitions import build_definitions, defs
from comic_pipeline.defs.gate import check_gates
from comic_pipeline.defs.io import document_key
from comic_pipeline.defs.metadata import data_version
from comic_pipeline.defs.partitions import PROJECTS
from comic_pipeline.model.errors import ComicError, ErrorCode
from comic_pipeline.model.media import (
    Clip,
    Clips,
    CoverImage,
    FinalVideo,
    FrameImage,
    FrameImages,
    MediaRef,
    Music,
    Production,
    ReviewPage,
    Subtitles,
    TimelineExport,
    VoiceLine,
    VoiceLines,
)
from comic_pipeline.model.money import ZERO
from comic_pipeline.model.storyboard import Shot, Storyboard
from comic_pipeline.model.verdict import Finding, Severity, Verdict
from comic_pipeline.quality import GATES
from comic_pipeline.stages.workshop import Workshop
from comic_pipeline.store import verdicts
from comic_pipeline_tests.builders import a_project
from comic_pipeline_tests.homes import opened_home

_MEDIA = MediaRef(key="projects/p1/x/x.png", sha256="0" * 64, size=1, mime="image/png", width=1280, height=720, duration_ms=5_000)
_MADE = Production(task_id="t", provider="x", model="x", cost=ZERO, template_hash="", seconds=0.0, reused=False)
DOCUMENTS: dict[str, BaseModel] = {
    "storyboard": Storyboard(title="猫", shots=(Shot(seq=0, scene_desc="moon", duration_ms=5_000, image_prompt="a cat"),)),
    "frame_images": FrameImages(frames=(FrameImage(seq=0, media=_MEDIA, made=_MADE),)),
    "voice_lines": VoiceLines(lines=(VoiceLine(seq=0, text="", speaker="", media=None, made=None),)),
    "clips": Clips(clips=(Clip(seq=0, media=_MEDIA, made=_MADE),)),
    "subtitles": Subtitles(cues=(), srt=None),
    "music": Music(media=None, made=None, licence=""),
    "final_video": FinalVideo(title="猫", media=_MEDIA, planned_ms=5_000, made=_MADE, offline=True),
    "cover_image": CoverImage(media=_MEDIA),
    "timeline_export": TimelineExport(bundle=_MEDIA, otio=_MEDIA, fcpxml=_MEDIA, edl=_MEDIA, frames=120, entries=()),
    "review_page": ReviewPage(page=_MEDIA, manifest=_MEDIA, embedded=0, linked=0, warnings=0),
}
_FINDING = Finding(rule="not_blank", severity=Severity.ERROR, seq=0, measured="0", wanted="1")


@pytest.fixture
def workshop(tmp_path: Path) -> Iterator[Workshop]:
    """A home with one project, every document of which is there."""
    with opened_home(tmp_path / "home", a_project()) as opened:
        for asset, document in DOCUMENTS.items():
            opened.objects.put(document_key("p1", asset), document.model_dump_json().encode(), mime="application/json")
        yield opened


def judge(workshop: Workshop, asset: str, *, passed: bool, by: str | None = None, version: str | None = None) -> None:
    """The asset's check gives its verdict about the document that is there."""
    verdict = Verdict(
        project_id="p1",
        asset=asset,
        check=GATES[asset],
        run_id="run-x",
        data_version=version or data_version(DOCUMENTS[asset]).value,
        passed=passed,
        severity=Severity.ERROR,
        numbers=f"[{_FINDING.model_dump_json()}]",
        override_by=by,
        override_reason="why" if by else None,
        at=datetime.now(UTC),
    )
    with workshop.database.write() as connection:
        verdicts.record(connection, verdict)


def test_only_an_open_gate_about_this_version_lets_through(workshop: Workshop) -> None:
    """No verdict, one about other data, a closed one: QC_FAILED, with what to do; the latest holds, and so does an override."""

    def refused() -> str:
        with pytest.raises(ComicError) as closed:
            check_gates(workshop.database, "p1", {"storyboard": DOCUMENTS["storyboard"]})
        assert closed.value.code is ErrorCode.QC_FAILED
        return closed.value.detail

    assert "run storyboard_qc first" in refused()
    judge(workshop, "storyboard", passed=True, version="another")
    assert "not checked in this version" in refused()
    judge(workshop, "storyboard", passed=True)
    check_gates(workshop.database, "p1", {"storyboard": DOCUMENTS["storyboard"]})
    judge(workshop, "storyboard", passed=False)
    assert "storyboard_qc of project p1 is closed: not_blank: 0" in refused()
    judge(workshop, "storyboard", passed=True, by="ann")
    check_gates(workshop.database, "p1", {"storyboard": DOCUMENTS["storyboard"]})


def test_what_has_no_gate_is_not_asked_for(workshop: Workshop) -> None:
    """Subtitles and music are judged with the film."""
    check_gates(workshop.database, "p1", {"subtitles": DOCUMENTS["subtitles"], "music": DOCUMENTS["music"]})


SPECS = {spec.key.to_user_string(): spec for spec in defs.resolve_all_asset_specs() if spec.partitions_def == PROJECTS}
BETWEEN = [
    (name, need)
    for name, spec in sorted(SPECS.items())
    for need in sorted(dep.asset_key.to_user_string() for dep in spec.deps)
    if need in GATES
]


@pytest.fixture(scope="module")
def instance() -> Iterator[dg.DagsterInstance]:
    """One instance for all the short runs."""
    with dg.DagsterInstance.ephemeral() as made:
        made.add_dynamic_partitions(PROJECTS.name or "", ["p1"])
        yield made


@pytest.mark.parametrize(("name", "need"), BETWEEN)
def test_every_asset_stops_at_the_closed_gate_of_what_it_needs(
    name: str, need: str, workshop: Workshop, instance: dg.DagsterInstance
) -> None:
    """A later run by hand cannot pass it: QC_FAILED with the gate's name in the run's tag, before any work."""
    for asset in GATES:
        judge(workshop, asset, passed=asset != need)
    definitions = build_definitions(lambda: workshop)
    job = definitions.resolve_implicit_global_asset_job_def()
    done = job.execute_in_process(
        instance=instance, partition_key="p1", asset_selection=[dg.AssetKey(name)], raise_on_error=False
    )
    run = instance.get_run_by_id(done.run_id)
    assert run is not None
    assert run.tags["comic/error_code"] == "QC_FAILED"
    errors = [event.step_failure_data.error for event in done.all_events if event.is_step_failure]
    said = [(error.cause or error).message for error in errors if error is not None]
    assert any(f"{GATES[need]} of project p1 is closed" in message for message in said)


def test_a_run_without_a_project_says_so_once(workshop: Workshop, instance: dg.DagsterInstance) -> None:
    """Dagster launches a job of partitioned assets without a partition; its own error would be tried again by the policy."""
    job = build_definitions(lambda: workshop).resolve_job_def("make_storyboard")
    done = job.execute_in_process(instance=instance, raise_on_error=False)
    run = instance.get_run_by_id(done.run_id)
    assert run is not None
    assert run.tags["comic/error_code"] == "INPUT_INVALID"
    assert [event.step_key for event in done.all_events if event.is_step_failure] == ["storyboard"]
    assert not [event for event in done.all_events if event.is_step_up_for_retry]
