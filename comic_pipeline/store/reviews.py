"""Reviews of films. Append-only: a film that is made anew is reviewed anew."""

from sqlalchemy import Connection, select

from comic_pipeline.model.review import Decision, Review
from comic_pipeline.model.workflow import Stage
from comic_pipeline.store.schema import reviews


def record(connection: Connection, review: Review) -> None:
    """Store one review."""
    shots = ",".join(map(str, review.redo_shots))
    connection.execute(reviews.insert().values(**review.model_dump(exclude={"redo_shots"}), redo_shots=shots))


def of_project(connection: Connection, project_id: str) -> list[Review]:
    """All reviews of a project, oldest first."""
    statement = select(reviews).where(reviews.c.project_id == project_id).order_by(reviews.c.id)
    return [
        Review(
            project_id=row["project_id"],
            decision=Decision(row["decision"]),
            by=row["by"],
            note=row["note"],
            film_sha256=row["film_sha256"],
            redo_stage=None if row["redo_stage"] is None else Stage(row["redo_stage"]),
            redo_shots=tuple(int(seq) for seq in row["redo_shots"].split(",") if seq),
            at=row["at"],
        )
        for row in connection.execute(statement).mappings()
    ]
