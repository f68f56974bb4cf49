"""What a round waited for others, and words of a shot that are dialogue or narration as the shot is.

Frozen history: it takes nothing from `schema.py` or the model, and is never edited once released.
"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

_TIME = sa.String(32).with_variant(sa.DateTime(timezone=True), "postgresql")
_FIELDS = (
    "image_prompt motion_prompt dialogue narration spoken seed clip_seed "
    "take_storyboard take_frames take_voices take_clips take_film"
)


def upgrade() -> None:
    """Add the column, and the field that may be overridden."""
    op.add_column("stages", sa.Column("waited_seconds", sa.Float, nullable=False, server_default="0"))
    listed = ", ".join(f"'{field}'" for field in _FIELDS.split())
    rule = sa.CheckConstraint(f"field IN ({listed})", name="legal_field")
    if op.get_bind().dialect.name == "postgresql":
        op.drop_constraint("legal_field", "shot_overrides")
        op.create_check_constraint("legal_field", "shot_overrides", rule.sqltext)
        return
    # SQLite cannot alter a constraint: the rows move to a new table.
    op.drop_index("overrides_by_project", "shot_overrides")
    op.rename_table("shot_overrides", "old_overrides")
    op.create_table(
        "shot_overrides",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("project_id", sa.String(63), sa.ForeignKey("projects.id"), nullable=False),
        sa.Column("seq", sa.Integer, nullable=False),
        sa.Column("field", sa.String(32), nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.Column("by", sa.String(128), nullable=False),
        sa.Column("at", _TIME, nullable=False),
        rule,
    )
    columns = 'id, project_id, seq, field, value, "by", at'
    op.execute(f"INSERT INTO shot_overrides ({columns}) SELECT {columns} FROM old_overrides")  # noqa: S608  # this module's own words
    op.drop_table("old_overrides")
    op.create_index("overrides_by_project", "shot_overrides", ["project_id", "id"])
