"""Overrides, verdicts, gates and reviews of a project; alerts and notifications; the limits that all processes share.

Frozen history: it says what the tables were, takes nothing from `schema.py` or the model, and is never edited once released.
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_TIME = sa.String(32).with_variant(sa.DateTime(timezone=True), "postgresql")


def upgrade() -> None:
    """Create the tables."""
    _create_shot_overrides()
    _create_verdicts()
    _create_gates()
    _create_reviews()
    _create_alerts()
    _create_notifications()
    _create_provider_slots()
    _create_provider_pace()
    _create_leases()


def _create_shot_overrides() -> None:
    op.create_table(
        "shot_overrides",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("project_id", sa.String(63), sa.ForeignKey("projects.id"), nullable=False),
        sa.Column("seq", sa.Integer, nullable=False),
        sa.Column("field", sa.String(32), nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.Column("by", sa.String(128), nullable=False),
        sa.Column("at", _TIME, nullable=False),
        _one_of(
            "field",
            "image_prompt motion_prompt dialogue narration seed clip_seed "
            "take_storyboard take_frames take_voices take_clips take_film",
        ),
    )
    op.create_index("overrides_by_project", "shot_overrides", ["project_id", "id"])


def _create_verdicts() -> None:
    op.create_table(
        "verdicts",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("project_id", sa.String(63), sa.ForeignKey("projects.id"), nullable=False),
        sa.Column("asset", sa.String(64), nullable=False),
        sa.Column("check", sa.String(64), nullable=False),
        sa.Column("run_id", sa.String(36), nullable=False),
        sa.Column("data_version", sa.String(64), nullable=False),
        sa.Column("passed", sa.Boolean, nullable=False),
        sa.Column("severity", sa.String(8), nullable=False),
        sa.Column("numbers", sa.Text, nullable=False),
        sa.Column("override_by", sa.String(128)),
        sa.Column("override_reason", sa.Text),
        sa.Column("at", _TIME, nullable=False),
        _one_of("severity", "ERROR WARN"),
    )
    op.create_index("verdicts_by_project", "verdicts", ["project_id", "asset", "check", "id"])


def _create_gates() -> None:
    op.create_table(
        "gates",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("project_id", sa.String(63), sa.ForeignKey("projects.id"), nullable=False),
        sa.Column("gate", sa.String(16), nullable=False),
        sa.Column("passed_by", sa.String(128), nullable=False),
        sa.Column("shown", sa.Text, nullable=False),
        sa.Column("at", _TIME, nullable=False),
        _one_of("gate", "payment consent anchor real_video"),
    )


def _create_reviews() -> None:
    op.create_table(
        "reviews",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("project_id", sa.String(63), sa.ForeignKey("projects.id"), nullable=False),
        sa.Column("decision", sa.String(16), nullable=False),
        sa.Column("by", sa.String(128), nullable=False),
        sa.Column("note", sa.Text, nullable=False, server_default=""),
        sa.Column("film_sha256", sa.String(64), nullable=False),
        sa.Column("redo_stage", sa.String(16)),
        sa.Column("redo_shots", sa.Text, nullable=False, server_default=""),
        sa.Column("at", _TIME, nullable=False),
        _one_of("decision", "approve reject"),
    )


def _create_alerts() -> None:
    op.create_table(
        "alerts",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("rule", sa.String(64), nullable=False),
        sa.Column("subject", sa.String(128), nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("raised_at", _TIME, nullable=False),
        sa.Column("cleared_at", _TIME),
    )


def _create_notifications() -> None:
    op.create_table(
        "notifications",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("project_id", sa.String(63)),
        sa.Column("event", sa.String(64), nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("tries", sa.Integer, nullable=False, server_default="0"),
        sa.Column("not_before", _TIME),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("sent_at", _TIME),
        _one_of("status", "new sent failed"),
    )
    op.create_index("notifications_open", "notifications", ["status", "id"])


def _create_provider_slots() -> None:
    op.create_table(
        "provider_slots",
        sa.Column("provider_id", sa.String(64), primary_key=True),
        sa.Column("slot", sa.Integer, primary_key=True),
        sa.Column("holder", sa.String(80), nullable=False),
        sa.Column("lease_expires_at", _TIME, nullable=False),
        sa.UniqueConstraint("provider_id", "holder", name="one_slot_per_holder"),
    )


def _create_provider_pace() -> None:
    op.create_table(
        "provider_pace",
        sa.Column("provider_id", sa.String(64), primary_key=True),
        sa.Column("next_at", _TIME, nullable=False),
    )


def _create_leases() -> None:
    op.create_table(
        "leases",
        sa.Column("name", sa.String(128), primary_key=True),
        sa.Column("holder", sa.String(80), nullable=False),
        sa.Column("expires_at", _TIME, nullable=False),
    )


def _one_of(column: str, words: str, *, nullable: bool = False) -> sa.CheckConstraint:
    listed = ", ".join(f"'{word}'" for word in words.split())
    rule = f"{column} IN ({listed})"
    return sa.CheckConstraint(f"{column} IS NULL OR {rule}" if nullable else rule, name=f"legal_{column}")
