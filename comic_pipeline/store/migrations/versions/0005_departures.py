"""When the last create of a provider leaves: the pace is kept on the wire, not only in the line before it.

Frozen history: it takes nothing from `schema.py` or the model, and is never edited once released.
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the moment; empty until the next create."""
    kind = sa.String(32) if op.get_bind().dialect.name == "sqlite" else sa.DateTime(timezone=True)
    op.add_column("provider_pace", sa.Column("sent_at", kind))
