"""Requests, projects, rounds of stages, and the ledger.

Frozen history: it says what the tables were, takes nothing from `schema.py` or the model, and is never edited once released.
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_TIME = sa.String(32).with_variant(sa.DateTime(timezone=True), "postgresql")
_MONEY = sa.Numeric(18, 6)
_ERROR_CODES = (
    "TASK_TIMEOUT PROVIDER_TIMEOUT PROVIDER_RATE_LIMIT PROVIDER_ERROR INPUT_INVALID PHOTO_QUALITY_FAIL "
    "PAYMENT_REQUIRED QUOTA_NOT_ENOUGH MODERATION_REJECTED FFMPEG_FAILED STORAGE_FAILED UNKNOWN_ERROR "
    "IDENTITY_ANCHOR_NOT_CONFIRMED FACE_CONSISTENCY_LOW REAL_VIDEO_PROVIDER_DISABLED "
    "REAL_VIDEO_CONFIRMATION_REQUIRED REAL_VIDEO_COST_LIMIT_EXCEEDED REAL_VIDEO_CLIP_FAILED VIDEO_CLIP_QC_FAILED "
    "LIPSYNC_FAILED MINOR_MANUAL_REVIEW_REQUIRED CONSENT_REQUIRED TIER_CONFLICT SCRIPT_INVALID EMPTY_RESPONSE "
    "PROVIDER_AUTH PROVIDER_QUOTA OUTCOME_UNKNOWN REF_URL_UNREACHABLE BUDGET_EXCEEDED QC_FAILED CANCELLED CONFLICT "
    "NOT_FOUND"
)


def upgrade() -> None:
    """Create the tables."""
    _create_submissions()
    _create_projects()
    _create_stages()
    _create_tasks()
    _create_attempts()


def _create_submissions() -> None:
    op.create_table(
        "submissions",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("project_id", sa.String(63)),
        sa.Column("user_id", sa.String(128), nullable=False),
        sa.Column("tier", sa.String(16), nullable=False, server_default="free"),
        sa.Column("payload", sa.Text, nullable=False, server_default="{}"),
        sa.Column("idempotency_key", sa.String(128)),
        sa.Column("priority", sa.Integer),
        sa.Column("status", sa.String(16), nullable=False, server_default="new"),
        sa.Column("answer", sa.Text),
        sa.Column("error_code", sa.String(64)),
        sa.Column("error_message", sa.Text),
        sa.Column("created_at", _TIME, nullable=False, server_default=sa.text("CURRENT_TIMESTAMP")),
        sa.Column("decided_at", _TIME),
        sa.UniqueConstraint("user_id", "idempotency_key", name="one_submission_per_key"),
        sa.CheckConstraint("length(payload) <= 200000", name="payload_size"),
        sa.CheckConstraint("length(user_id) BETWEEN 1 AND 128", name="user_named"),
        sa.CheckConstraint("kind = 'produce' OR project_id IS NOT NULL", name="project_named"),
        _one_of("kind", "produce retry redo cancel review confirm"),
        _one_of("tier", "free preview paid premium"),
        _one_of("status", "new waiting accepted rejected"),
        _one_of("error_code", _ERROR_CODES, nullable=True),
    )
    op.create_index("submissions_open", "submissions", ["status", "priority", "id"])


def _create_projects() -> None:
    op.create_table(
        "projects",
        sa.Column("id", sa.String(63), primary_key=True),
        sa.Column("user_id", sa.String(128), nullable=False),
        sa.Column("tier", sa.String(16), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("title", sa.Text, nullable=False, server_default=""),
        sa.Column("idea", sa.Text, nullable=False),
        sa.Column("script", sa.Text, nullable=False, server_default=""),
        sa.Column("style", sa.String(32), nullable=False),
        sa.Column("duration_bucket", sa.String(16), nullable=False),
        sa.Column("aspect", sa.String(8), nullable=False),
        sa.Column("resolution", sa.String(8), nullable=False),
        sa.Column("language", sa.String(8), nullable=False),
        sa.Column("content_hash", sa.String(64), nullable=False),
        sa.Column("status", sa.String(24), nullable=False),
        sa.Column("fail_stage", sa.String(16)),
        sa.Column("retry_count", sa.Integer, nullable=False, server_default="0"),
        sa.Column("budget", _MONEY, nullable=False),
        sa.Column("cancel_requested", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("cancel_requested_at", _TIME),
        sa.Column("cancel_reason", sa.String(255)),
        sa.Column("opened_at", _TIME, nullable=False),
        sa.Column("cancel_force", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("cancelled_at", _TIME),
        sa.Column("error_code", sa.String(64)),
        sa.Column("error_message", sa.Text),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("updated_at", _TIME, nullable=False),
        sa.Column("finished_at", _TIME),
        _one_of("tier", "free preview paid premium"),
        _one_of("kind", "idea script"),
        _one_of("duration_bucket", "short_15 short_30 medium_60 long_120"),
        _one_of("aspect", "16:9 9:16 1:1"),
        _one_of("resolution", "720p 1080p"),
        _one_of("language", "zh en"),
        _one_of(
            "status",
            "QUEUED SCRIPT IMAGE TTS VIDEO COMPOSE PENDING_REVIEW APPROVED REJECTED "
            "WAITING_CONFIRMATION FAILED MANUAL_REQUIRED CANCELLED",
        ),
        _one_of("fail_stage", "storyboard frames voices clips film release", nullable=True),
        _one_of("error_code", _ERROR_CODES, nullable=True),
    )
    _unique_where(
        "one_formal_project_per_user",
        "projects",
        ["user_id"],
        "tier IN ('paid', 'premium') AND status IN ('QUEUED', 'SCRIPT', 'IMAGE', 'TTS', 'VIDEO', 'COMPOSE')",
    )
    op.create_index("projects_by_content", "projects", ["user_id", "content_hash"])
    op.create_index("projects_by_status", "projects", ["status", "updated_at"])
    op.create_index("projects_by_user", "projects", ["user_id", "status"])


def _create_stages() -> None:
    op.create_table(
        "stages",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("project_id", sa.String(63), sa.ForeignKey("projects.id"), nullable=False),
        sa.Column("stage", sa.String(16), nullable=False),
        sa.Column("round", sa.Integer, nullable=False),
        sa.Column("scope", sa.Text),
        sa.Column("status", sa.String(24), nullable=False),
        sa.Column("run_id", sa.String(36)),
        sa.Column("heartbeat_at", _TIME),
        sa.Column("priority", sa.Integer, nullable=False, server_default="0"),
        sa.Column("error_code", sa.String(64)),
        sa.Column("error_message", sa.Text),
        sa.Column("requested_at", _TIME, nullable=False),
        sa.Column("queued_at", _TIME),
        sa.Column("started_at", _TIME),
        sa.Column("ended_at", _TIME),
        sa.UniqueConstraint("project_id", "stage", "round", name="one_row_per_round"),
        _one_of("stage", "storyboard frames voices clips film release"),
        _one_of("status", "requested queued running passed failed manual_required cancelled"),
        _one_of("error_code", _ERROR_CODES, nullable=True),
    )
    _unique_where("one_active_round_per_stage", "stages", ["project_id", "stage"], "status IN ('requested', 'queued', 'running')")
    op.create_index("stages_by_run", "stages", ["run_id"])
    op.create_index("stages_open", "stages", ["status", "requested_at"])


def _create_tasks() -> None:
    op.create_table(
        "tasks",
        sa.Column("task_id", sa.String(36), primary_key=True),
        sa.Column("project_id", sa.String(63), nullable=False),
        sa.Column("task_type", sa.String(32), nullable=False),
        sa.Column("queue", sa.String(32), nullable=False),
        sa.Column("shot_seq", sa.Integer),
        sa.Column("take", sa.Integer, nullable=False, server_default="0"),
        sa.Column("provider_id", sa.String(32), nullable=False),
        sa.Column("status", sa.String(24), nullable=False),
        sa.Column("input_json", sa.Text, nullable=False),
        sa.Column("input_hash", sa.String(64), nullable=False),
        sa.Column("output_asset_id", sa.Text),
        sa.Column("output_json", sa.Text),
        sa.Column("provider_request_id", sa.Text),
        sa.Column("retry_count", sa.Integer, nullable=False, server_default="0"),
        sa.Column("max_retry", sa.Integer, nullable=False),
        sa.Column("not_before", _TIME),
        sa.Column("cost_estimate", _MONEY, nullable=False, server_default="0"),
        sa.Column("cost_actual", _MONEY, nullable=False, server_default="0"),
        sa.Column("error_code", sa.String(64)),
        sa.Column("error_message", sa.Text),
        sa.Column("relation_type", sa.String(64)),
        sa.Column("relation_entity_id", sa.String(128)),
        sa.Column("cancel_requested", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("cancel_requested_at", _TIME),
        sa.Column("cancel_reason", sa.String(255)),
        sa.Column("cancelled_at", _TIME),
        sa.Column("lease_owner", sa.String(80)),
        sa.Column("lease_expires_at", _TIME),
        sa.Column("deadline_at", _TIME),
        sa.Column("run_id", sa.String(36)),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("started_at", _TIME),
        sa.Column("finished_at", _TIME),
        sa.UniqueConstraint("project_id", "task_type", "input_hash", name="one_task_per_input"),
        sa.CheckConstraint("status <> 'success' OR output_asset_id IS NOT NULL", name="success_has_output"),
        _one_of("task_type", "storyboard frame_image voice_line clip music film_render"),
        _one_of("status", "pending running success failed retrying cancelled manual_required"),
        _one_of("error_code", _ERROR_CODES, nullable=True),
    )
    _unique_where(
        "one_active_task_per_relation",
        "tasks",
        ["relation_type", "relation_entity_id"],
        "relation_type IS NOT NULL AND status IN ('pending', 'running', 'retrying')",
    )
    op.create_index("tasks_by_cancel", "tasks", ["status", "cancel_requested"])
    op.create_index("tasks_by_shot", "tasks", ["project_id", "task_type", "shot_seq"])


def _create_attempts() -> None:
    op.create_table(
        "attempts",
        sa.Column("task_id", sa.String(36), sa.ForeignKey("tasks.task_id"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("provider_id", sa.String(32), nullable=False),
        sa.Column("provider_base_url", sa.Text, nullable=False),
        sa.Column("provider_request_id", sa.Text),
        sa.Column("request_hash", sa.String(64), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("http_status", sa.Integer),
        sa.Column("provider_code", sa.String(128)),
        sa.Column("estimate", _MONEY, nullable=False),
        sa.Column("cost", _MONEY),
        sa.Column("result", sa.Text),
        sa.Column("started_at", _TIME, nullable=False),
        sa.Column("finished_at", _TIME),
        sa.CheckConstraint("state <> 'submitted' OR provider_request_id IS NOT NULL", name="submitted_has_id"),
        sa.CheckConstraint("state NOT IN ('succeeded', 'unknown') OR cost IS NOT NULL", name="paid_states_have_cost"),
        sa.CheckConstraint("estimate >= 0 AND (cost IS NULL OR cost >= 0)", name="money_not_negative"),
        _one_of("kind", "create repair"),
        _one_of("state", "intent submitted succeeded failed unknown released"),
    )
    op.create_index("attempts_by_day", "attempts", ["started_at"])
    op.create_index("attempts_by_provider", "attempts", ["provider_id", "state"])
    _unique_where("one_open_attempt_per_task", "attempts", ["task_id"], "state IN ('intent', 'submitted')")


def _one_of(column: str, words: str, *, nullable: bool = False) -> sa.CheckConstraint:
    listed = ", ".join(f"'{word}'" for word in words.split())
    rule = f"{column} IN ({listed})"
    return sa.CheckConstraint(f"{column} IS NULL OR {rule}" if nullable else rule, name=f"legal_{column}")


def _unique_where(name: str, table: str, columns: list[str], rule: str) -> None:
    op.create_index(name, table, columns, unique=True, sqlite_where=sa.text(rule), postgresql_where=sa.text(rule))
