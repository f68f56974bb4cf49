"""The tables of the comic database. Migrations create them; this module is what queries are written against.

Belongs here: columns, constraints, indexes. Rules live in constraints wherever one can hold them. Views are in the migrations.
"""

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
    text,
)

from comic_pipeline.model.alerting import AlertRule
from comic_pipeline.model.errors import ErrorCode
from comic_pipeline.model.notice import NoticeEvent, NoticeStatus
from comic_pipeline.model.project import Aspect, DurationBucket, Language, ProjectKind, Resolution, Tier
from comic_pipeline.model.storyboard import OverrideField
from comic_pipeline.model.task import AttemptKind, AttemptState, TaskStatus, TaskType
from comic_pipeline.model.workflow import (
    ACTIVE_PROJECT_STATES,
    ProjectState,
    Stage,
    StageStatus,
    SubmissionKind,
    SubmissionStatus,
)
from comic_pipeline.store.columns import Money, UtcTime

metadata = MetaData()


def _one_of(column: str, values: object, *, nullable: bool = False) -> CheckConstraint:
    listed = ", ".join(f"'{value}'" for value in values)  # type: ignore[attr-defined]  # any iterable of StrEnum members
    rule = f"{column} IN ({listed})"
    return CheckConstraint(f"{column} IS NULL OR {rule}" if nullable else rule, name=f"legal_{column}")


submissions = Table(
    "submissions",
    metadata,
    # A backend may insert rows itself: everything it need not know has a default.
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("kind", String(16), nullable=False),
    Column("project_id", String(63)),
    Column("user_id", String(128), nullable=False),
    Column("tier", String(16), nullable=False, server_default=Tier.FREE.value),
    Column("payload", Text, nullable=False, server_default="{}"),
    Column("idempotency_key", String(128)),
    Column("priority", Integer),
    Column("status", String(16), nullable=False, server_default=SubmissionStatus.NEW.value),
    Column("answer", Text),
    Column("error_code", String(64)),
    Column("error_message", Text),
    Column("created_at", UtcTime, nullable=False, server_default=text("CURRENT_TIMESTAMP")),
    Column("decided_at", UtcTime),
    UniqueConstraint("user_id", "idempotency_key", name="one_submission_per_key"),
    CheckConstraint("length(payload) <= 200000", name="payload_size"),
    CheckConstraint("length(user_id) BETWEEN 1 AND 128", name="user_named"),
    CheckConstraint(f"kind = '{SubmissionKind.PRODUCE}' OR project_id IS NOT NULL", name="project_named"),
    _one_of("kind", SubmissionKind),
    _one_of("tier", Tier),
    _one_of("status", SubmissionStatus),
    _one_of("error_code", ErrorCode, nullable=True),
    Index("submissions_open", "status", "priority", "id"),
)

projects = Table(
    "projects",
    metadata,
    Column("id", String(63), primary_key=True),
    Column("user_id", String(128), nullable=False),
    Column("tier", String(16), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("title", Text, nullable=False, server_default=""),
    Column("idea", Text, nullable=False),
    Column("script", Text, nullable=False, server_default=""),
    Column("style", String(32), nullable=False),
    Column("duration_bucket", String(16), nullable=False),
    Column("aspect", String(8), nullable=False),
    Column("resolution", String(8), nullable=False),
    Column("language", String(8), nullable=False),
    Column("content_hash", String(64), nullable=False),
    Column("status", String(24), nullable=False),
    Column("fail_stage", String(16)),
    Column("retry_count", Integer, nullable=False, server_default="0"),
    Column("budget", Money, nullable=False),
    Column("cancel_requested", Boolean, nullable=False, server_default=false()),
    Column("cancel_requested_at", UtcTime),
    Column("cancel_reason", String(255)),
    # When production began or was taken up again: the project's time-out counts from here.
    Column("opened_at", UtcTime, nullable=False),
    # Also stop the run that is at work; without it, work ends at its next checkpoint.
    Column("cancel_force", Boolean, nullable=False, server_default=false()),
    Column("cancelled_at", UtcTime),
    Column("error_code", String(64)),
    Column("error_message", Text),
    Column("created_at", UtcTime, nullable=False),
    Column("updated_at", UtcTime, nullable=False),
    Column("finished_at", UtcTime),
    _one_of("tier", Tier),
    _one_of("kind", ProjectKind),
    _one_of("duration_bucket", DurationBucket),
    _one_of("aspect", Aspect),
    _one_of("resolution", Resolution),
    _one_of("language", Language),
    _one_of("status", ProjectState),
    _one_of("fail_stage", Stage, nullable=True),
    _one_of("error_code", ErrorCode, nullable=True),
    Index("projects_by_user", "user_id", "status"),
    Index("projects_by_status", "status", "updated_at"),
    Index("projects_by_content", "user_id", "content_hash"),
    Index("projects_by_update", "updated_at"),
)

_ACTIVE = ", ".join(f"'{state}'" for state in ACTIVE_PROJECT_STATES)
Index(
    "one_formal_project_per_user",
    projects.c.user_id,
    unique=True,
    sqlite_where=text(f"tier IN ('paid', 'premium') AND status IN ({_ACTIVE})"),
    postgresql_where=text(f"tier IN ('paid', 'premium') AND status IN ({_ACTIVE})"),
)

stages = Table(
    "stages",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("project_id", String(63), ForeignKey("projects.id"), nullable=False),
    Column("stage", String(16), nullable=False),
    Column("round", Integer, nullable=False),
    Column("scope", Text),
    Column("status", String(24), nullable=False),
    Column("run_id", String(36)),
    Column("heartbeat_at", UtcTime),
    Column("priority", Integer, nullable=False, server_default="0"),
    Column("error_code", String(64)),
    Column("error_message", Text),
    Column("requested_at", UtcTime, nullable=False),
    Column("queued_at", UtcTime),
    Column("started_at", UtcTime),
    Column("ended_at", UtcTime),
    # Of the time between start and end, what its run did nothing but wait for others.
    Column("waited_seconds", Float, nullable=False, server_default="0"),
    UniqueConstraint("project_id", "stage", "round", name="one_row_per_round"),
    _one_of("stage", Stage),
    _one_of("status", StageStatus),
    _one_of("error_code", ErrorCode, nullable=True),
    Index("stages_open", "status", "requested_at"),
    Index("stages_by_run", "run_id"),
)
Index(
    "one_active_round_per_stage",
    stages.c.project_id,
    stages.c.stage,
    unique=True,
    sqlite_where=text("status IN ('requested', 'queued', 'running')"),
    postgresql_where=text("status IN ('requested', 'queued', 'running')"),
)

tasks = Table(
    "tasks",
    metadata,
    Column("task_id", String(36), primary_key=True),
    Column("project_id", String(63), nullable=False),
    Column("task_type", String(32), nullable=False),
    Column("queue", String(32), nullable=False),
    Column("shot_seq", Integer),
    Column("take", Integer, nullable=False, server_default="0"),
    Column("provider_id", String(32), nullable=False),
    Column("status", String(24), nullable=False),
    Column("input_json", Text, nullable=False),
    Column("input_hash", String(64), nullable=False),
    Column("output_asset_id", Text),
    Column("output_json", Text),
    # As long as the provider likes: an id that does not fit would be a paid job that nobody can find again.
    Column("provider_request_id", Text),
    Column("retry_count", Integer, nullable=False, server_default="0"),
    Column("max_retry", Integer, nullable=False),
    Column("not_before", UtcTime),
    Column("cost_estimate", Money, nullable=False, server_default="0"),
    Column("cost_actual", Money, nullable=False, server_default="0"),
    Column("error_code", String(64)),
    Column("error_message", Text),
    # What a task of the script desk is about, which is no shot. Nothing sets it yet.
    Column("relation_type", String(64)),
    Column("relation_entity_id", String(128)),
    Column("cancel_requested", Boolean, nullable=False, server_default=false()),
    Column("cancel_requested_at", UtcTime),
    Column("cancel_reason", String(255)),
    Column("cancelled_at", UtcTime),
    Column("lease_owner", String(80)),
    Column("lease_expires_at", UtcTime),
    Column("deadline_at", UtcTime),
    Column("run_id", String(36)),
    Column("created_at", UtcTime, nullable=False),
    Column("started_at", UtcTime),
    Column("finished_at", UtcTime),
    UniqueConstraint("project_id", "task_type", "input_hash", name="one_task_per_input"),
    CheckConstraint("status <> 'success' OR output_asset_id IS NOT NULL", name="success_has_output"),
    _one_of("task_type", TaskType),
    _one_of("status", TaskStatus),
    _one_of("error_code", ErrorCode, nullable=True),
    Index("tasks_by_cancel", "status", "cancel_requested"),
    Index("tasks_by_end", "status", "finished_at"),
    Index("tasks_by_progress", "project_id", "task_type", "status"),
    Index("tasks_by_craft", "task_type", "provider_id", "status", "finished_at"),
)
Index(
    "one_active_task_per_relation",
    tasks.c.relation_type,
    tasks.c.relation_entity_id,
    unique=True,
    sqlite_where=text("relation_type IS NOT NULL AND status IN ('pending', 'running', 'retrying')"),
    postgresql_where=text("relation_type IS NOT NULL AND status IN ('pending', 'running', 'retrying')"),
)

attempts = Table(
    "attempts",
    metadata,
    Column("task_id", String(36), ForeignKey("tasks.task_id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("provider_id", String(32), nullable=False),
    Column("provider_base_url", Text, nullable=False),
    Column("provider_request_id", Text),
    Column("request_hash", String(64), nullable=False),
    Column("state", String(16), nullable=False),
    Column("http_status", Integer),
    Column("provider_code", String(128)),
    Column("estimate", Money, nullable=False),
    Column("cost", Money),
    # Where a ready result is, so that a run that dies between the answer and the download fetches it and does not pay again.
    Column("result", Text),
    Column("started_at", UtcTime, nullable=False),
    Column("finished_at", UtcTime),
    CheckConstraint("state <> 'submitted' OR provider_request_id IS NOT NULL", name="submitted_has_id"),
    CheckConstraint("state NOT IN ('succeeded', 'unknown') OR cost IS NOT NULL", name="paid_states_have_cost"),
    CheckConstraint("estimate >= 0 AND (cost IS NULL OR cost >= 0)", name="money_not_negative"),
    _one_of("kind", AttemptKind),
    _one_of("state", AttemptState),
    Index("attempts_by_day", "started_at"),
    Index("attempts_by_job", "provider_id", "provider_request_id"),
)

Index(
    "one_open_attempt_per_task",
    attempts.c.task_id,
    unique=True,
    sqlite_where=text("state IN ('intent', 'submitted')"),
    postgresql_where=text("state IN ('intent', 'submitted')"),
)

shot_overrides = Table(
    "shot_overrides",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("project_id", String(63), ForeignKey("projects.id"), nullable=False),
    Column("seq", Integer, nullable=False),
    Column("field", String(32), nullable=False),
    Column("value", Text, nullable=False),
    Column("by", String(128), nullable=False),
    Column("at", UtcTime, nullable=False),
    _one_of("field", OverrideField),
    Index("overrides_by_project", "project_id", "id"),
)

voice_cast = Table(
    "voice_cast",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("project_id", String(63), ForeignKey("projects.id"), nullable=False),
    Column("provider_id", String(32), nullable=False),
    # The narrator is the empty name.
    Column("speaker", Text, nullable=False),
    Column("voice", String(128), nullable=False),
    Column("at", UtcTime, nullable=False),
    Index("voice_cast_by_project", "project_id", "id"),
)

verdicts = Table(
    "verdicts",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("project_id", String(63), ForeignKey("projects.id"), nullable=False),
    Column("asset", String(64), nullable=False),
    Column("check", String(64), nullable=False),
    Column("run_id", String(36), nullable=False),
    Column("data_version", String(64), nullable=False),
    Column("passed", Boolean, nullable=False),
    Column("severity", String(8), nullable=False),
    Column("numbers", Text, nullable=False),
    Column("override_by", String(128)),
    Column("override_reason", Text),
    Column("at", UtcTime, nullable=False),
    _one_of("severity", ("ERROR", "WARN")),
    Index("verdicts_by_project", "project_id", "asset", "check", "id"),
)

gates = Table(
    "gates",
    metadata,
    # What people confirm before a portrait film goes on. Nothing writes it yet.
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("project_id", String(63), ForeignKey("projects.id"), nullable=False),
    Column("gate", String(16), nullable=False),
    Column("passed_by", String(128), nullable=False),
    Column("shown", Text, nullable=False),
    Column("at", UtcTime, nullable=False),
    _one_of("gate", ("payment", "consent", "anchor", "real_video")),
)

reviews = Table(
    "reviews",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("project_id", String(63), ForeignKey("projects.id"), nullable=False),
    Column("decision", String(16), nullable=False),
    Column("by", String(128), nullable=False),
    Column("note", Text, nullable=False, server_default=""),
    Column("film_sha256", String(64), nullable=False),
    # What a rejection asked for, if it became a redo.
    Column("redo_stage", String(16)),
    Column("redo_shots", Text, nullable=False, server_default=""),
    Column("at", UtcTime, nullable=False),
    _one_of("decision", ("approve", "reject")),
)

alerts = Table(
    "alerts",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("rule", String(32), nullable=False),
    Column("subject", String(128), nullable=False),
    # The newest measured number and the one at which the alert is raised.
    Column("value", Float, nullable=False),
    Column("limit", Float, nullable=False),
    Column("message_zh", Text, nullable=False),
    Column("message_en", Text, nullable=False),
    # Since when the number is too high; raised once it has been so for the rule's time, and only then told to anybody.
    Column("since", UtcTime, nullable=False),
    Column("raised_at", UtcTime),
    Column("cleared_at", UtcTime),
    _one_of("rule", AlertRule),
    CheckConstraint("cleared_at IS NULL OR raised_at IS NOT NULL", name="cleared_after_raised"),
    Index("alerts_by_time", "raised_at"),
)
Index(
    "one_open_alert",
    alerts.c.rule,
    alerts.c.subject,
    unique=True,
    sqlite_where=text("cleared_at IS NULL"),
    postgresql_where=text("cleared_at IS NULL"),
)

notifications = Table(
    "notifications",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    # What receivers tell doubles by: the same for every try.
    Column("event_id", String(160), nullable=False),
    Column("event", String(32), nullable=False),
    # Notices of one stream are sent one after another.
    Column("stream", String(200), nullable=False),
    Column("project_id", String(63)),
    Column("body", Text, nullable=False),
    Column("status", String(16), nullable=False),
    Column("tries", Integer, nullable=False, server_default="0"),
    Column("not_before", UtcTime),
    Column("lease_owner", String(80)),
    Column("lease_expires_at", UtcTime),
    Column("last_error", Text),
    Column("created_at", UtcTime, nullable=False),
    Column("sent_at", UtcTime),
    UniqueConstraint("event_id", name="one_notice_per_event"),
    _one_of("event", NoticeEvent),
    _one_of("status", NoticeStatus),
    Index("notifications_open", "status", "id"),
    Index("notifications_by_stream", "stream", "status", "id"),
)

provider_slots = Table(
    "provider_slots",
    metadata,
    # One row a job under way; slot numbers run from 1 to the limit, so the primary key is the limit.
    Column("provider_id", String(64), primary_key=True),
    Column("slot", Integer, primary_key=True),
    Column("holder", String(80), nullable=False),
    Column("lease_expires_at", UtcTime, nullable=False),
    UniqueConstraint("provider_id", "holder", name="one_slot_per_holder"),
)

provider_pace = Table(
    "provider_pace",
    metadata,
    # The next turn in line, and when the last create leaves or has left: one guarded UPDATE gives every process its own moment.
    Column("provider_id", String(64), primary_key=True),
    Column("next_at", UtcTime, nullable=False),
    Column("sent_at", UtcTime),
)

leases = Table(
    "leases",
    metadata,
    # Named things that one process at a time may do (the reconciler's pass, a project's serial stage).
    Column("name", String(128), primary_key=True),
    Column("holder", String(80), nullable=False),
    Column("expires_at", UtcTime, nullable=False),
)
