"""Alerts with their hysteresis, an outbox that is leased, ordered and free of doubles, and an index to count failures by.

Frozen history: it says what the tables were, takes nothing from `schema.py` or the model, and is never edited once released.
Nothing has ever written to the two tables of revision 0002, so they are made anew: SQLite cannot alter constraints.
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_TIME = sa.String(32).with_variant(sa.DateTime(timezone=True), "postgresql")


def upgrade() -> None:
    """Make both tables anew, and the index."""
    op.drop_table("alerts")
    op.drop_table("notifications")
    _create_alerts()
    _create_notifications()
    op.create_index("tasks_by_end", "tasks", ["status", "finished_at"])


def _create_alerts() -> None:
    op.create_table(
        "alerts",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("rule", sa.String(32), nullable=False),
        sa.Column("subject", sa.String(128), nullable=False),
        sa.Column("value", sa.Float, nullable=False),
        sa.Column("limit", sa.Float, nullable=False),
        sa.Column("message_zh", sa.Text, nullable=False),
        sa.Column("message_en", sa.Text, nullable=False),
        sa.Column("since", _TIME, nullable=False),
        sa.Column("raised_at", _TIME),
        sa.Column("cleared_at", _TIME),
        _one_of("rule", "failed_tasks provider_failing queue_backlog film_failures cost_outlier space_low"),
        sa.CheckConstraint("cleared_at IS NULL OR raised_at IS NOT NULL", name="cleared_after_raised"),
    )
    op.create_index("alerts_by_time", "alerts", ["raised_at"])
    open_only = sa.text("cleared_at IS NULL")
    op.create_index(
        "one_open_alert", "alerts", ["rule", "subject"], unique=True, sqlite_where=open_only, postgresql_where=open_only
    )


def _create_notifications() -> None:
    op.create_table(
        "notifications",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("event_id", sa.String(160), nullable=False),
        sa.Column("event", sa.String(32), nullable=False),
        sa.Column("stream", sa.String(200), nullable=False),
        sa.Column("project_id", sa.String(63)),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("tries", sa.Integer, nullable=False, server_default="0"),
        sa.Column("not_before", _TIME),
        sa.Column("lease_owner", sa.String(80)),
        sa.Column("lease_expires_at", _TIME),
        sa.Column("last_error", sa.Text),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("sent_at", _TIME),
        sa.UniqueConstraint("event_id", name="one_notice_per_event"),
        _one_of("event", "film.ready film.approved film.failed film.manual_required alert.raised alert.cleared"),
        _one_of("status", "new sent dead"),
    )
    op.create_index("notifications_open", "notifications", ["status", "id"])
    op.create_index("notifications_by_stream", "notifications", ["stream", "status", "id"])


def _one_of(column: str, words: str) -> sa.CheckConstraint:
    listed = ", ".join(f"'{word}'" for word in words.split())
    return sa.CheckConstraint(f"{column} IN ({listed})", name=f"legal_{column}")
