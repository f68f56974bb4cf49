"""A request for a film: who may have one now, and the project that it becomes."""

from datetime import datetime, timedelta
from uuid import uuid4

from comic_pipeline.model.errors import ErrorCode, ProviderFault, Refused
from comic_pipeline.model.limits import DAILY_QUOTA, FORMAL_TIERS
from comic_pipeline.model.money import show
from comic_pipeline.model.project import ProduceRequest, Project, RawProduceRequest, Tier, check_project_id
from comic_pipeline.model.submission import Answer, Submission
from comic_pipeline.model.workflow import ProjectState, SubmissionKind, SubmissionStatus
from comic_pipeline.service.house import House, Waits, parse
from comic_pipeline.store import projects, spending, submissions
from comic_pipeline.store.database import Connection, Taken


def keeps_waiting(connection: Connection, submission: Submission, house: House) -> bool:
    """Whether deciding a waiting submission now would change nothing: read only, so that a long line costs no writes."""
    if submission.status is not SubmissionStatus.WAITING or submission.kind is not SubmissionKind.PRODUCE:
        return False
    project = _new_project(parse(RawProduceRequest, submission).checked(), submission, house)
    return _same(connection, project) is None and _formal_in_the_way(connection, project) is not None


def produce(connection: Connection, submission: Submission, house: House) -> Answer:
    """A new project, or the one that already makes this film. Raises Waits; Refused, also when it would cost too much."""
    asked = parse(RawProduceRequest, submission).checked()
    project = _new_project(asked, submission, house)
    # What is looked up from here on, the same film and the films of the day, must still be true when the project is written.
    projects.lock_user(connection, project.user_id)
    if same := _same(connection, project):
        return Answer(project_id=same.id, status=same.status, reused=True)
    _check_budgets(connection, project, house)
    _wait_in_line(connection, project)
    _check_quota(connection, submission, house.now)
    try:
        with connection.begin_nested():
            projects.insert(connection, project)
    except Taken:
        # A retry of the user's other formal project may have come first: only then it is not the id that is taken.
        _wait_in_line(connection, project)
        raise Refused(ErrorCode.CONFLICT, f"project id {project.id} is taken") from None
    return Answer(project_id=project.id, status=project.status)


def _same(connection: Connection, project: Project) -> Project | None:
    """The project that is on its way to the same film; one that is being cancelled is not."""
    same = projects.find_same(connection, project)
    return None if same is None or same.cancel_requested else same


def _wait_in_line(connection: Connection, project: Project) -> None:
    if active := _formal_in_the_way(connection, project):
        raise Waits(f"waiting for project {active}: one formal project a user at a time / 等待用户的上一个项目完成")


def _formal_in_the_way(connection: Connection, project: Project) -> str | None:
    """The user's active formal project, when `project` is another one."""
    active = projects.find_active_formal(connection, project.user_id) if project.tier in FORMAL_TIERS else None
    return None if active == project.id else active


def _new_project(asked: ProduceRequest, submission: Submission, house: House) -> Project:
    chosen = (
        f"p-{house.now:%Y%m%d}-{uuid4().hex[:10]}" if submission.project_id is None else check_project_id(submission.project_id)
    )
    return project_of(asked, house, project_id=chosen, user_id=submission.user_id, tier=submission.tier)


def project_of(asked: ProduceRequest, house: House, *, project_id: str, user_id: str, tier: Tier) -> Project:
    """The project that a request would become; not stored."""
    return Project(
        id=project_id,
        user_id=user_id,
        tier=tier,
        kind=asked.kind,
        title="",
        idea=asked.idea,
        script=asked.script,
        style=asked.style.key,
        duration_bucket=asked.duration,
        aspect=asked.aspect,
        resolution=asked.resolution,
        language=asked.language,
        status=ProjectState.QUEUED,
        budget=house.budgets[tier],
        created_at=house.now,
        updated_at=house.now,
    )


def _check_budgets(connection: Connection, project: Project, house: House) -> None:
    """Refuse a film that would stop half-way for want of money, before anything of it is paid."""
    try:
        price = house.price(project)
    except ProviderFault as fault:
        raise Refused(fault.code, fault.detail) from fault
    if price > project.budget:
        raise Refused(
            ErrorCode.BUDGET_EXCEEDED,
            f"the film is estimated at {show(price)}, a {project.tier} project may cost {show(project.budget)} (COMIC_BUDGETS): "
            f"ask for a shorter film or another tier; `comic submit --estimate` shows the parts / "
            f"预计 {show(price)}，超过该档位每片上限 {show(project.budget)}：请缩短时长或更换档位",
        )
    today = spending.booked_on_day(connection, now=house.now)
    if price > 0 and today + price > house.day_budget:
        raise Refused(
            ErrorCode.BUDGET_EXCEEDED,
            f"the film is estimated at {show(price)}, {show(today)} of today's {show(house.day_budget)} (COMIC_DAY_BUDGET) are "
            f"spent or reserved: ask again after midnight (Asia/Shanghai), or raise it / "
            f"预计 {show(price)}，今日额度 {show(house.day_budget)} 已用 {show(today)}：请明日再试",
        )


def _check_quota(connection: Connection, submission: Submission, now: datetime) -> None:
    quota = DAILY_QUOTA[submission.tier]
    if quota is None:
        return
    local = now.astimezone(spending.BOOK_ZONE)
    start = local.replace(hour=0, minute=0, second=0, microsecond=0)
    used = submissions.count_produced(
        connection, submission.user_id, tier=submission.tier, since=start, until=start + timedelta(days=1)
    )
    if used >= quota:
        raise Refused(
            ErrorCode.QUOTA_NOT_ENOUGH,
            f"user {submission.user_id} has used {used} of {quota} {submission.tier} films of {start:%Y-%m-%d} (Asia/Shanghai)",
        )
