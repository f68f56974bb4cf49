"""Every operator job as Dagster runs it, over a prepared home: what it answers in its run, and what became of the rows."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import dagster as dg
import pytest

from comic_pipeline.defs.operations import OPERATOR_JOBS, Redoable
from comic_pipeline.defs.resources import workshop_resource
from comic_pipeline.model.errors import StorageFault
from comic_pipeline.model.task import TaskStatus
from comic_pipeline.model.workflow import PRODUCTION, REDOABLE, ProjectState, Stage, StageStatus
from comic_pipeline.stages.workshop import Workshop
from comic_pipeline.store import submissions
from comic_pipeline_tests.builders import a_project
from comic_pipeline_tests.contracts.service.databases import empty
from comic_pipeline_tests.contracts.service.door import Door
from comic_pipeline_tests.homes import opened_home

MADE = dict.fromkeys(PRODUCTION, StageStatus.PASSED)
STUCK = {Stage.STORYBOARD: StageStatus.PASSED, Stage.FRAMES: StageStatus.MANUAL_REQUIRED, Stage.VOICES: StageStatus.PASSED}
BROKEN = {"status": ProjectState.MANUAL_REQUIRED, "fail_stage": "frames"}
NEW_TAKE = {"take_frames": "1", "seed": "7"}.items()


@dataclass
class Launchpad:
    """Where an operator starts jobs; `door` looks at the tables behind them."""

    instance: dg.DagsterInstance
    workshop: Workshop
    door: Door

    def start(self, name: str, **config: Any) -> dg.DagsterRun:
        """Run a job to its end with the config of its op; the run as the UI shows it."""
        job = next(job for job in OPERATOR_JOBS if job.name == name)
        (op,) = (node.name for node in job.nodes)
        done = job.execute_in_process(
            run_config={"ops": {op: {"config": config}}},
            resources={"workshop": workshop_resource(lambda: self.workshop)},
            instance=self.instance,
            raise_on_error=False,
        )
        run = self.instance.get_run_by_id(done.run_id)
        assert run is not None
        return run

    def accepted(self, name: str, **config: Any) -> dict[str, Any]:
        """Start a job that must be accepted; its answer, the same in the tag and in the row of the submission."""
        run = self.start(name, **config)
        assert run.status is dg.DagsterRunStatus.SUCCESS, run.tags
        assert "comic/error_code" not in run.tags
        answer: dict[str, Any] = json.loads(run.tags["comic/answer"])
        assert run.tags["comic/project"] == answer["project_id"]
        assert json.loads(self.door.row(int(run.tags["comic/submission"])).answer or "").items() >= answer.items()
        return answer

    def refused(self, name: str, **config: Any) -> str:
        """Start a job that must be refused; the code in its tag."""
        run = self.start(name, **config)
        assert run.status is dg.DagsterRunStatus.FAILURE
        assert "comic/answer" not in run.tags
        said = json.loads(run.tags["comic/refusal"])
        assert said["error_code"] == run.tags["comic/error_code"]
        assert said["detail"]
        assert said["message_zh"]
        assert said["message_en"]
        return run.tags["comic/error_code"]


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    """The workshop of a prepared home."""
    with opened_home(tmp_path_factory.mktemp("home")) as opened:
        yield opened


@pytest.fixture(scope="module")
def instance() -> Iterator[dg.DagsterInstance]:
    """One instance: every test looks at the runs that it started itself."""
    with dg.DagsterInstance.ephemeral() as opened:
        yield opened


@pytest.fixture
def pad(workshop: Workshop, instance: dg.DagsterInstance) -> Iterator[Launchpad]:
    """An empty database."""
    yield Launchpad(instance, workshop, Door(workshop.database))
    empty(workshop.database)


def test_submit_makes_a_project_and_answers_in_the_run(pad: Launchpad) -> None:
    """What was asked for is what the project has; the run's tags name project and submission."""
    wish = {
        "idea": "一只狐狸守着会发光的邮筒",
        "style": "水墨国风",
        "duration": "MEDIUM_60",
        "aspect": "TALL",
        "resolution": "FULL_HD",
    }
    answer = pad.accepted("submit_project", user="alice", tier="PAID", **wish)
    project = pad.door.project(answer["project_id"])
    assert (answer["status"], project.status) == ("QUEUED", "QUEUED")
    assert (project.user_id, project.tier, project.idea, project.style) == ("alice", "paid", wish["idea"], "ink")
    assert (project.duration_bucket, project.aspect, project.resolution) == ("medium_60", "9:16", "1080p")


def test_a_key_acts_once_however_often_its_job_runs(pad: Launchpad) -> None:
    """A double click in the launchpad, or a backend that lost the answer: two runs, one submission, one project."""
    runs = [pad.start("submit_project", idea="猫", user="alice", key="order-17") for _ in range(2)]
    assert [run.status for run in runs] == [dg.DagsterRunStatus.SUCCESS] * 2
    for tag in ("comic/project", "comic/submission", "comic/answer"):
        assert runs[0].tags[tag] == runs[1].tags[tag]
    assert pad.accepted("submit_project", idea="猫", user="bob", key="order-17")["project_id"] != runs[0].tags["comic/project"]


def test_a_second_formal_film_waits_and_is_answered_when_asked_again(pad: Launchpad) -> None:
    """The run succeeds and says that it waits, in both languages; the same key asks after its place, not for another film."""
    first = pad.accepted("submit_project", idea="猫", user="alice", tier="PAID")
    second = {"idea": "狗", "user": "alice", "tier": "PAID", "key": "k"}
    for _ in range(2):
        run = pad.start("submit_project", **second)
        said = json.loads(run.tags["comic/answer"])
        assert run.status is dg.DagsterRunStatus.SUCCESS
        assert "comic/project" not in run.tags
        assert said["status"] == "waiting"
        assert str(said["submission_id"]) == run.tags["comic/submission"]
        assert first["project_id"] in said["message"]
        assert "等待" in said["message"]
    pad.accepted("cancel_project", project=first["project_id"])
    assert pad.accepted("submit_project", **second)["status"] == "QUEUED"


@pytest.mark.parametrize(
    ("config", "code"),
    [
        ({"user": "alice"}, "INPUT_INVALID"),
        ({"user": "alice", "idea": "猫", "style": "cubism"}, "INPUT_INVALID"),
        ({"user": "alice", "idea": "x" * 2_001}, "INPUT_INVALID"),
        ({"user": "", "idea": "猫"}, "INPUT_INVALID"),
        ({"user": "alice\u0000", "idea": "猫"}, "INPUT_INVALID"),
        ({"user": "alice", "idea": "猫", "key": "k" * 129}, "INPUT_INVALID"),
    ],
    ids=["nothing to film", "unknown style", "too long", "nobody", "hostile name", "long key"],
)
def test_a_bad_request_fails_its_run_with_a_code(pad: Launchpad, config: dict[str, Any], code: str) -> None:
    """The code is a tag, so that a backend need not parse a message; there is no project."""
    assert pad.refused("submit_project", **config) == code


def test_the_failure_says_in_both_languages_what_to_do(pad: Launchpad) -> None:
    """What the operator reads in the run: code, reason, Chinese and English."""
    run = pad.start("retry_project", project="p-nobody")
    assert run.tags["comic/error_code"] == "NOT_FOUND"
    (failed,) = [entry.dagster_event for entry in pad.instance.all_logs(run.run_id, of_type=dg.DagsterEventType.STEP_FAILURE)]
    assert failed is not None
    said = failed.step_failure_data.user_failure_data
    assert said is not None
    assert "p-nobody" in (said.description or "")
    assert "未找到 / Not found" in (said.description or "")
    assert said.metadata["who_must_act"].value == "user"


def test_a_fourth_free_film_of_a_day_is_refused(pad: Launchpad) -> None:
    """The quota holds at this door too."""
    for idea in ("猫", "狗", "鱼"):
        pad.accepted("submit_project", idea=idea, user="alice")
    assert pad.refused("submit_project", idea="鸟", user="alice") == "QUOTA_NOT_ENOUGH"


def test_retry_goes_on_from_the_stage_that_failed(pad: Launchpad) -> None:
    """A new round of that stage alone; twice is a conflict, because the project is at work again."""
    pad.door.put(a_project(**BROKEN), STUCK)
    assert pad.accepted("retry_project", project="p1") == {"project_id": "p1", "status": "QUEUED"}
    rounds = pad.door.rounds()
    assert (rounds[Stage.FRAMES].round, rounds[Stage.FRAMES].status) == (2, StageStatus.REQUESTED)
    assert (rounds[Stage.STORYBOARD].round, rounds[Stage.VOICES].round) == (1, 1)
    assert pad.refused("retry_project", project="p1") == "CONFLICT"


def test_redo_stores_words_and_seed_for_the_named_shots_alone(pad: Launchpad) -> None:
    """What is wanted is kept as overrides by the operator's name, so that no later run flips it back."""
    pad.door.put(a_project(status=ProjectState.PENDING_REVIEW), MADE)
    for seq in (1, 2):
        pad.door.add_task("p1", Stage.FRAMES, TaskStatus.SUCCESS, seq=seq)
    answer = pad.accepted(
        "redo_shots", project="p1", stage="FRAMES", shots=[0, 2], prompt="the cat wears a hat", seed=7, by="olga"
    )
    assert answer["status"] == "QUEUED"
    words = {(seq, "image_prompt"): "the cat wears a hat" for seq in (0, 2)}
    assert pad.door.overrides() == words | {(seq, field): value for seq in (0, 2) for field, value in NEW_TAKE}
    assert pad.door.row(1).user_id == "olga"
    rounds = pad.door.rounds()
    assert (rounds[Stage.FRAMES].round, rounds[Stage.FRAMES].status) == (2, StageStatus.REQUESTED)


@pytest.mark.parametrize(
    "config",
    [
        {"stage": "FRAMES", "shots": [7]},
        {"stage": "FRAMES", "seed": -1},
        {"stage": "FILM", "shots": [0]},
        {"stage": "VOICES", "seed": 3},
        {"stage": "FRAMES", "prompt": "x\u0007"},
    ],
    ids=["no such shot", "negative seed", "shot of a film", "seed of a voice", "control character"],
)
def test_a_redo_that_makes_no_sense_changes_nothing(pad: Launchpad, config: dict[str, Any]) -> None:
    """Refused before anything is stored."""
    pad.door.put(a_project(status=ProjectState.PENDING_REVIEW), MADE)
    assert pad.refused("redo_shots", project="p1", **config) == "INPUT_INVALID"
    assert pad.door.overrides() == {}
    assert pad.door.project().status == ProjectState.PENDING_REVIEW


def test_the_launchpad_offers_what_can_be_made_anew() -> None:
    """It offered STORYBOARD first, as its example for a missing stage, and refused it then."""
    assert [(one.name, one.value) for one in Redoable] == [(stage.name, stage.value) for stage in REDOABLE]
    for job, op in (("redo_shots", "redo_stage"), ("review_project", "review_film")):
        config = {"project": "p1", "stage": "STORYBOARD"} | (
            {"decision": "REJECT", "by": "ann"} if job == "review_project" else {}
        )
        found = next(one for one in OPERATOR_JOBS if one.name == job)
        with pytest.raises(dg.DagsterInvalidConfigError, match="STORYBOARD"):
            dg.validate_run_config(found, {"ops": {op: {"config": config}}})


@pytest.mark.parametrize("job", [job.name for job in OPERATOR_JOBS])
def test_every_field_of_the_launchpad_is_explained_in_both_languages(job: str) -> None:
    """Project, key and who asks, which most jobs have, were in English alone."""
    (op,) = next(one for one in OPERATOR_JOBS if one.name == job).nodes
    assert op.definition.config_schema is not None
    config = op.definition.config_schema.config_type
    assert isinstance(config, dg.Shape)
    assert [name for name, field in config.fields.items() if not re.search("[A-Za-z].*[一-龥]", field.description or "")] == []


def test_a_database_that_goes_away_after_the_decision_is_no_refusal(pad: Launchpad, monkeypatch: pytest.MonkeyPatch) -> None:
    """The film was admitted, and the backend was told that nothing had been changed: the same key gives its answer."""

    def away(*_: object) -> None:
        raise StorageFault("comic database: OperationalError: the connection was lost")

    with monkeypatch.context() as broken:
        broken.setattr("comic_pipeline.defs.operations.service.answer_of", away)
        run = pad.start("submit_project", user="alice", idea="猫", key="k-1")
    assert run.status is dg.DagsterRunStatus.FAILURE
    assert (run.tags["comic/error_code"], "comic/refusal" in run.tags) == ("STORAGE_FAILED", False)
    answer = pad.accepted("submit_project", user="alice", idea="猫", key="k-1")
    assert pad.door.project(answer["project_id"]).idea == "猫"


def test_cancel_says_whether_it_took_effect_at_once(pad: Launchpad) -> None:
    """At once while no run is at it, else after its step; the first reason stays, a third film cannot be cancelled."""
    pad.door.put(a_project("p1"), {Stage.STORYBOARD: StageStatus.PASSED, Stage.FRAMES: StageStatus.RUNNING})
    pad.door.put(a_project("p2", idea="狗"), {Stage.STORYBOARD: StageStatus.REQUESTED})
    pad.door.put(a_project("p3", idea="鱼", status=ProjectState.APPROVED), MADE)
    at_work = pad.accepted("cancel_project", project="p1", reason="typo", force=True)
    assert (at_work["effective_immediately"], pad.door.project("p1").cancel_reason) == (False, "typo")
    assert "当前步骤" in at_work["message_zh"]
    assert pad.accepted("cancel_project", project="p2", by="olga")["effective_immediately"] is True
    assert pad.door.project("p2").cancel_reason == "cancelled by olga"
    assert pad.refused("cancel_project", project="p3") == "CONFLICT"


def test_an_approval_releases_the_film(pad: Launchpad) -> None:
    """By whom is recorded; the release is asked for; the same again finds it done."""
    pad.door.put(a_project(status=ProjectState.PENDING_REVIEW), MADE)
    first = pad.accepted("review_project", project="p1", decision="APPROVE", by="ann", note="lovely")
    assert first["status"] == "APPROVED"
    assert pad.door.rounds()[Stage.RELEASE].status is StageStatus.REQUESTED
    assert pad.accepted("review_project", project="p1", decision="APPROVE", by="ann")["reused"] is True
    assert pad.refused("review_project", project="p1", decision="REJECT", by="ann") == "CONFLICT"


def test_whoever_reads_the_answer_finds_the_status_that_follows_from_it(pad: Launchpad) -> None:
    """The run itself tells it to `project_status`: a backend that retries and looks must not see the failure of before."""
    pad.door.put(a_project(**BROKEN), STUCK)
    run = pad.start("retry_project", project="p1")
    event = pad.instance.get_latest_materialization_event(dg.AssetKey("project_status"))
    assert event is not None
    assert event.run_id == run.run_id
    assert event.asset_materialization is not None
    assert event.asset_materialization.partition == "p1"
    report = event.asset_materialization.metadata["report"]
    assert isinstance(report, dg.JsonMetadataValue)
    assert isinstance(report.data, dict)
    assert report.data["status"] == "QUEUED"


def test_a_rejection_ends_it_or_has_shots_made_anew(pad: Launchpad) -> None:
    """With a stage it becomes a redo of these shots, without one the project is REJECTED; nobody is nobody."""
    pad.door.put(a_project("p1", status=ProjectState.PENDING_REVIEW), MADE)
    pad.door.put(a_project("p2", idea="狗", status=ProjectState.PENDING_REVIEW), MADE)
    assert pad.accepted("review_project", project="p1", decision="REJECT", by="ann")["status"] == "REJECTED"
    anew = {"decision": "REJECT", "stage": "CLIPS", "shots": [0]}
    assert pad.refused("review_project", project="p2", by=" ", **anew) == "INPUT_INVALID"
    assert pad.accepted("review_project", project="p2", by="ann", **anew)["status"] == "QUEUED"
    assert pad.door.rounds("p2")[Stage.CLIPS].round == 2
    assert pad.door.overrides("p2") == {(0, "take_clips"): "1"}


@pytest.mark.parametrize("job", [job.name for job in OPERATOR_JOBS])
def test_operator_jobs_pass_every_stage_run_in_the_queue(job: str) -> None:
    """A person is waiting: highest priority, no stage tag, and no more than five minutes."""
    tags = next(one for one in OPERATOR_JOBS if one.name == job).tags
    assert (tags["comic/kind"], tags["dagster/priority"], tags["dagster/max_runtime"]) == ("operator", "60", "300")
    assert "comic/stage" not in tags


def test_a_value_that_is_no_choice_never_reaches_the_op(pad: Launchpad) -> None:
    """Dagster's config schema refuses it; nothing is written."""
    with pytest.raises(dg.DagsterInvalidConfigError, match="GOLD"):
        pad.start("submit_project", idea="猫", user="alice", tier="GOLD")
    with pad.workshop.database.read() as connection:
        assert submissions.open_ids(connection, limit=10) == []
