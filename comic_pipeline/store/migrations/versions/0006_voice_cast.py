"""Who speaks with which voice: a project's speakers keep theirs over redos and new speakers.

Frozen history: it takes nothing from `schema.py` or the model, and is never edited once released.
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

_TIME = sa.String(32).with_variant(sa.DateTime(timezone=True), "postgresql")


def upgrade() -> None:
    """Create the table; projects that were voiced before are cast anew at their next round of voices."""
    op.create_table(
        "voice_cast",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("project_id", sa.String(63), sa.ForeignKey("projects.id"), nullable=False),
        sa.Column("provider_id", sa.String(32), nullable=False),
        sa.Column("speaker", sa.Text, nullable=False),
        sa.Column("voice", sa.String(128), nullable=False),
        sa.Column("at", _TIME, nullable=False),
    )
    op.create_index("voice_cast_by_project", "voice_cast", ["project_id", "id"])
