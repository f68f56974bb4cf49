"""The tables of the workflow: stages, landings, ends of rounds, and every transition that is legal."""

from dataclasses import dataclass

import pytest

from comic_pipeline.model.errors import ERROR_RULES, ErrorCode, Refused
from comic_pipeline.model.project import Tier
from comic_pipeline.model.stage_end import StageEnd, decide_end, landing, project_state_after
from comic_pipeline.model.submission import Submission
from comic_pipeline.model.task import TaskType
from comic_pipeline.model.workflow import (
    ACTIVE_PROJECT_STATES,
    ALLOWED_FROM,
    MAX_ROUNDS,
    STAGE_OF_ASSET,
    STAGE_OF_TASK,
    STAGE_RULES,
    ProjectState,
    RunPhase,
    Stage,
    StageStatus,
    SubmissionKind,
    SubmissionStatus,
    check_allowed,
    downstream,
)
from comic_pipeline_tests.builders import NOW

STOPPED = {"FAILED", "MANUAL_REQUIRED", "CANCELLED"}
FINISHED = {"PENDING_REVIEW", "REJECTED", "APPROVED"}
PRODUCING = {"QUEUED", "SCRIPT", "IMAGE", "TTS", "VIDEO", "COMPOSE"}
# Written out anew from what was agreed: what the code must be equal to.
LEGAL = {
    SubmissionKind.RETRY: STOPPED,
    SubmissionKind.REDO: STOPPED | FINISHED,
    SubmissionKind.CANCEL: PRODUCING | {"WAITING_CONFIRMATION"},
    SubmissionKind.REVIEW: {"PENDING_REVIEW"},
    SubmissionKind.CONFIRM: {"WAITING_CONFIRMATION"},
}


@pytest.mark.parametrize("state", ProjectState)
@pytest.mark.parametrize("kind", LEGAL)
def test_every_transition(kind: SubmissionKind, state: ProjectState) -> None:
    """Each kind of request in each state: done where the table allows it, else CONFLICT with the current state."""
    if state.value in LEGAL[kind]:
        check_allowed(kind, state, project_id="p1")
        return
    with pytest.raises(Refused) as refused:
        check_allowed(kind, state, project_id="p1")
    assert refused.value.code is ErrorCode.CONFLICT
    assert f"p1 is {state}" in refused.value.detail
    assert all(allowed in refused.value.detail for allowed in LEGAL[kind])


def test_the_table_covers_every_state_and_every_kind_that_is_about_a_project() -> None:
    """A new state or kind must be put into the table above on purpose."""
    assert STOPPED | FINISHED | PRODUCING | {"WAITING_CONFIRMATION"} == {state.value for state in ProjectState}
    assert set(LEGAL) == set(SubmissionKind) - {SubmissionKind.PRODUCE} == set(ALLOWED_FROM)
    assert {state.value for state in ACTIVE_PROJECT_STATES} == PRODUCING


@pytest.mark.parametrize(
    ("stage", "state", "job", "queue", "deadline", "serial", "needs"),
    [
        ("storyboard", "SCRIPT", "make_storyboard", "text_queue", 180, True, ()),
        ("frames", "IMAGE", "make_frames", "image_queue", 600, False, ("storyboard",)),
        ("voices", "TTS", "make_voices", "voice_queue", 300, False, ("storyboard",)),
        ("clips", "VIDEO", "make_clips", "video_queue", 1_800, False, ("frames",)),
        ("film", "COMPOSE", "make_film", "ffmpeg_queue", 1_800, True, ("clips", "voices")),
        ("release", "APPROVED", "release_film", "notification_queue", 300, True, ("film",)),
    ],
)
def test_the_stage_table_is_that_of_the_design(  # one argument a column
    stage: str, state: str, job: str, queue: str, deadline: float, *, serial: bool, needs: tuple[str, ...]
) -> None:
    """States, jobs, queues, deadlines, locks, and what needs what."""
    rule = STAGE_RULES[Stage(stage)]
    assert (rule.state, rule.job, rule.queue, rule.deadline, rule.serial, rule.needs) == (
        state,
        job,
        queue,
        deadline,
        serial,
        needs,
    )


def test_stages_come_after_their_needs_and_own_their_assets_alone() -> None:
    """Reading order is working order; no asset or kind of task belongs to two stages."""
    seen: set[Stage] = set()
    for stage, rule in STAGE_RULES.items():
        assert seen.issuperset(rule.needs)
        seen.add(stage)
    assert list(STAGE_RULES) == list(Stage)
    assert len(STAGE_OF_ASSET) == sum(len(rule.assets) for rule in STAGE_RULES.values())
    assert STAGE_OF_TASK[TaskType.CLIP] is Stage.CLIPS


@pytest.mark.parametrize(
    ("stage", "expected"),
    [
        ("storyboard", ["storyboard", "frames", "voices", "clips", "film", "release"]),
        ("frames", ["frames", "clips", "film", "release"]),
        ("voices", ["voices", "film", "release"]),
        ("clips", ["clips", "film", "release"]),
        ("film", ["film", "release"]),
    ],
)
def test_downstream_is_what_must_be_made_anew(stage: str, expected: list[str]) -> None:
    """The stage itself first, then all that came of it, in order."""
    assert list(downstream(Stage(stage))) == expected


@pytest.mark.parametrize("stage", Stage)
@pytest.mark.parametrize("code", ErrorCode)
def test_a_failed_stage_lands_by_its_code(code: ErrorCode, stage: Stage) -> None:
    """As the table of errors says, but for moderation: an idea is the user's to change, a shot is an operator's."""
    if code is ErrorCode.MODERATION_REJECTED:
        expected = "FAILED" if stage is Stage.STORYBOARD else "MANUAL_REQUIRED"
    else:
        expected = ERROR_RULES[code].lands_in
    assert landing(code, stage) == expected


@dataclass(frozen=True)
class Report:
    """What a run, its tasks and its checks said."""

    phase: RunPhase = RunPhase.SUCCEEDED
    code: ErrorCode | None = None
    message: str = ""
    missing: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    all_gated: bool = False
    number: int = 1
    cancel: bool = False
    remake: bool = False
    stage: Stage = Stage.FRAMES

    def end(self) -> StageEnd:
        """What it means."""
        return decide_end(
            self.phase,
            stage=self.stage,
            code=self.code,
            message=self.message,
            verdicts_missing=self.missing,
            verdicts_failed=self.failed,
            all_gated=self.all_gated,
            round_number=self.number,
            cancel_requested=self.cancel,
            may_remake=self.remake,
        )


PASSED, FAILED, MANUAL, CANCELLED = (
    StageStatus.PASSED,
    StageStatus.FAILED,
    StageStatus.MANUAL_REQUIRED,
    StageStatus.CANCELLED,
)
ENDS = [
    ("succeeded with its verdicts", Report(), PASSED, False, None),
    ("succeeded after an earlier report", Report(code=ErrorCode.PROVIDER_ERROR), PASSED, False, None),
    ("succeeded without its checks", Report(missing=("qc",)), FAILED, True, ErrorCode.QC_FAILED),
    ("never ran its checks", Report(missing=("qc",), number=MAX_ROUNDS), MANUAL, False, ErrorCode.QC_FAILED),
    ("closed gate", Report(failed=("qc",)), MANUAL, False, ErrorCode.QC_FAILED),
    ("closed gate that is made anew", Report(failed=("qc",), remake=True), FAILED, True, ErrorCode.QC_FAILED),
    ("closed gate of a cancelled one", Report(failed=("qc",), remake=True, cancel=True), CANCELLED, False, ErrorCode.CANCELLED),
    ("closed gate fails the run", Report(RunPhase.FAILED, failed=("qc",)), MANUAL, False, ErrorCode.QC_FAILED),
    ("one closed, one missing", Report(failed=("a",), missing=("b",)), MANUAL, False, ErrorCode.QC_FAILED),
    (
        "gone with a closed gate",
        Report(RunPhase.GONE, failed=("qc",), all_gated=True),
        MANUAL,
        False,
        ErrorCode.QC_FAILED,
    ),
    ("died without a word", Report(RunPhase.FAILED, missing=("qc",)), FAILED, True, ErrorCode.UNKNOWN_ERROR),
    ("gone", Report(RunPhase.GONE, missing=("qc",)), FAILED, True, ErrorCode.UNKNOWN_ERROR),
    ("gone the fourth time", Report(RunPhase.GONE, missing=("qc",), number=4), FAILED, True, ErrorCode.UNKNOWN_ERROR),
    ("gone the fifth time", Report(RunPhase.GONE, missing=("qc",), number=5), MANUAL, False, ErrorCode.UNKNOWN_ERROR),
    ("gone the ninth time", Report(RunPhase.GONE, missing=("qc",), number=9), MANUAL, False, ErrorCode.UNKNOWN_ERROR),
    ("failed after all its gates, by hand", Report(RunPhase.FAILED, all_gated=True), PASSED, False, None),
    ("gone after all its gates", Report(RunPhase.GONE, all_gated=True), PASSED, False, None),
    ("failed with an asset that has no gate", Report(RunPhase.FAILED), FAILED, True, ErrorCode.UNKNOWN_ERROR),
    (
        "reported after all its gates",
        Report(RunPhase.FAILED, code=ErrorCode.STORAGE_FAILED, all_gated=True),
        MANUAL,
        False,
        ErrorCode.STORAGE_FAILED,
    ),
    ("bad input", Report(RunPhase.FAILED, ErrorCode.INPUT_INVALID), FAILED, False, ErrorCode.INPUT_INVALID),
    ("auth", Report(RunPhase.FAILED, ErrorCode.PROVIDER_AUTH), MANUAL, False, ErrorCode.PROVIDER_AUTH),
    ("retries used up", Report(RunPhase.FAILED, ErrorCode.PROVIDER_ERROR), MANUAL, False, ErrorCode.PROVIDER_ERROR),
    (
        "reported, then killed",
        Report(RunPhase.GONE, ErrorCode.BUDGET_EXCEEDED),
        MANUAL,
        False,
        ErrorCode.BUDGET_EXCEEDED,
    ),
    ("a shot was rejected", Report(RunPhase.FAILED, ErrorCode.MODERATION_REJECTED), MANUAL, False, ErrorCode.MODERATION_REJECTED),
    (
        "the idea was rejected",
        Report(RunPhase.FAILED, ErrorCode.MODERATION_REJECTED, stage=Stage.STORYBOARD),
        FAILED,
        False,
        ErrorCode.MODERATION_REJECTED,
    ),
    ("stopped at a checkpoint", Report(RunPhase.FAILED, ErrorCode.CANCELLED), CANCELLED, False, ErrorCode.CANCELLED),
    ("terminated", Report(RunPhase.CANCELED), CANCELLED, False, ErrorCode.CANCELLED),
    ("terminated after a report", Report(RunPhase.CANCELED, ErrorCode.PROVIDER_ERROR), CANCELLED, False, ErrorCode.CANCELLED),
    ("failed while cancel was asked", Report(RunPhase.FAILED, cancel=True), CANCELLED, False, ErrorCode.CANCELLED),
    ("gone while cancel was asked", Report(RunPhase.GONE, cancel=True), CANCELLED, False, ErrorCode.CANCELLED),
    ("succeeded while cancel was asked", Report(cancel=True), CANCELLED, False, ErrorCode.CANCELLED),
    ("closed gate while cancel was asked", Report(failed=("qc",), cancel=True), CANCELLED, False, ErrorCode.CANCELLED),
]


@pytest.mark.parametrize(
    ("report", "status", "again", "code"), [row[1:] for row in ENDS], ids=[row[0].replace(" ", "-") for row in ENDS]
)
def test_what_the_end_of_a_run_means(report: Report, status: StageStatus, code: ErrorCode | None, *, again: bool) -> None:
    """One row a kind of end: the stage's status, whether another round follows by itself, the code to show."""
    end = report.end()
    assert (end.status, end.again, end.code) == (status, again, code)
    assert bool(end.message) == (status is not PASSED) or report.code is not None
    expected = {
        PASSED: None,
        FAILED: None if again else ProjectState.FAILED,
        MANUAL: ProjectState.MANUAL_REQUIRED,
        CANCELLED: ProjectState.CANCELLED,
    }[status]
    assert project_state_after(end) is expected


@pytest.mark.parametrize("number", range(1, MAX_ROUNDS + 1))
def test_a_silent_run_gets_five_rounds_in_all(number: int) -> None:
    """The fifth hands over to a person and says how many there were."""
    end = Report(RunPhase.GONE, number=number).end()
    assert end.again == (number < 5)
    assert ("5 rounds ended this way" in end.message) == (number == 5)


@pytest.mark.parametrize(
    ("report", "said"),
    [
        (Report(failed=("frame_images_qc", "other_qc")), "closed gates: frame_images_qc, other_qc"),
        (Report(missing=("frame_images_qc",)), "the run skipped its checks: frame_images_qc"),
        (Report(RunPhase.GONE), "the run ended without a word"),
        (Report(RunPhase.CANCELED), "the run was terminated in Dagster"),
        (Report(cancel=True), "cancel was requested"),
        (Report(RunPhase.FAILED, ErrorCode.PROVIDER_AUTH, message="key 401"), "key 401"),
        (Report(RunPhase.CANCELED, message="why"), "why"),
    ],
)
def test_an_end_says_why(report: Report, said: str) -> None:
    """What the run itself said wins; otherwise the kind of end is named."""
    assert report.end().message.startswith(said)


def test_a_submission_reads_only_known_kinds() -> None:
    """A row that slipped past the constraints does not become a value."""
    facts = {
        "id": 1,
        "project_id": None,
        "user_id": "u",
        "tier": Tier.FREE,
        "payload": "{}",
        "idempotency_key": None,
        "priority": None,
        "status": SubmissionStatus.NEW,
        "answer": None,
        "error_code": None,
        "error_message": None,
        "created_at": NOW,
        "decided_at": None,
    }
    assert Submission.model_validate(facts | {"kind": "produce"}).kind is SubmissionKind.PRODUCE
    with pytest.raises(ValueError, match="kind"):
        Submission.model_validate(facts | {"kind": "destroy"})
