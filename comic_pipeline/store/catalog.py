"""What readers may rely on: the views of the data team and the table that backends write to, every column with its meaning.

Belongs here: words. Does not: the views themselves (migrations) and the tables (`schema.py`); a contract test holds these words
against both databases, column by column.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class ReaderColumn:
    """One column; `kind` as readers get it: text, integer, decimal (CNY), boolean, time (UTC), json (text)."""

    name: str
    kind: str
    meaning: str


@dataclass(frozen=True)
class ReaderTable:
    """One view or table, and what a row of it is."""

    name: str
    row: str
    columns: tuple[ReaderColumn, ...]


def _table(name: str, row: str, *columns: tuple[str, str, str]) -> ReaderTable:
    return ReaderTable(name, row, tuple(ReaderColumn(*column) for column in columns))


SUBMISSIONS = _table(
    "submissions",
    "one request from outside: by `comic`, an operator's job, or a backend that inserts it",
    ("id", "integer", "in the order of arrival"),
    ("kind", "text", "produce, retry, redo, cancel, review or confirm"),
    ("project_id", "text", "the project that it is about; for produce null until it is accepted"),
    ("user_id", "text", "who asks"),
    ("tier", "text", "free, preview, paid or premium"),
    ("payload", "json", "what is wished for, by kind"),
    ("idempotency_key", "text", "the same key of one user is one submission"),
    ("priority", "integer", "larger is earlier; null: by tier"),
    ("status", "text", "new, waiting, accepted or rejected"),
    ("answer", "json", "what became of it: project_id, reused, effective_immediately"),
    ("error_code", "text", "why it was rejected"),
    ("error_message", "text", "the same in words"),
    ("created_at", "time", "when it came"),
    ("decided_at", "time", "when it was decided"),
)
PROJECT_PROGRESS = _table(
    "project_progress",
    "one project as it stands now",
    ("project_id", "text", "the Dagster partition of the project"),
    ("user_id", "text", "whose film it is"),
    ("tier", "text", "free, preview, paid or premium"),
    ("title", "text", "of the film; empty before the storyboard"),
    ("status", "text", "state of the project, e.g. IMAGE, PENDING_REVIEW, MANUAL_REQUIRED"),
    ("stage", "text", "the stage at work, or the one that it stopped at"),
    ("progress", "integer", "percent; 100 also when it ended without a film"),
    ("frames_ready", "integer", "pictures that are done, of the newest wish for each shot"),
    ("total_frames", "integer", "pictures that are wanted"),
    ("clips_ready", "integer", "clips that are done"),
    ("voices_ready", "integer", "lines that are spoken"),
    ("cost", "decimal", "CNY booked over all attempts"),
    ("error_code", "text", "why it stopped"),
    ("created_at", "time", "when it was accepted"),
    ("updated_at", "time", "when it last moved"),
)
PROJECT_COSTS = _table(
    "project_costs",
    "one type of task of one project at one provider",
    ("project_id", "text", "the project"),
    ("task_type", "text", "storyboard, frame_image, voice_line, clip, music or film_render"),
    ("provider_id", "text", "who was paid, e.g. ark_video"),
    ("tasks", "integer", "pieces of work"),
    ("attempts", "integer", "creates that they took"),
    ("cost", "decimal", "CNY booked"),
    ("reserved", "decimal", "CNY promised by attempts that are still open"),
)
PROVIDER_HEALTH = _table(
    "provider_health",
    "one provider on one day",
    ("provider_id", "text", "e.g. ark_video"),
    ("day", "text", "calendar day of Asia/Shanghai on which the attempts were sent, YYYY-MM-DD"),
    ("attempts", "integer", "creates that were sent"),
    ("succeeded", "integer", "of them: delivered"),
    ("failed", "integer", "of them: refused or failed by the provider"),
    ("unknown", "integer", "of them: lost, and booked at their estimate"),
    ("cost", "decimal", "CNY booked"),
)
QC_RESULTS = _table(
    "qc_results",
    "the newest verdict of one check of one project",
    ("project_id", "text", "the project"),
    ("asset", "text", "the asset that was judged"),
    ("check", "text", "the gate, e.g. frame_images_qc"),
    ("passed", "boolean", "whether the gate is open"),
    ("severity", "text", "ERROR closes the gate, WARN does not"),
    ("numbers", "json", "the findings: rule, shot, what was measured, what was wanted"),
    ("data_version", "text", "the version of the asset's data that was judged"),
    ("run_id", "text", "the Dagster run that judged"),
    ("at", "time", "when"),
    ("override_by", "text", "who opened the gate in spite of it"),
    ("override_reason", "text", "and why"),
)
VIEWS = (PROJECT_PROGRESS, PROJECT_COSTS, PROVIDER_HEALTH, QC_RESULTS)
