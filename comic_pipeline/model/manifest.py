"""The provenance manifest of a film: who made which bytes from what, with which model, at what cost, under which terms.

Belongs here: the document and how it follows from ledger rows (pure). Does not: reading the rows and storing the document
(`stages/manifest.py`).

Nothing in it changes when a stage runs again and finds everything made: no times of runs, no run ids. No secrets, no prompts, no
names of people: the user, and whoever opened a gate, appear as salted hashes.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from pydantic import BaseModel, ConfigDict

from comic_pipeline.model.licence import Licence, licences_of
from comic_pipeline.model.media import MediaRef
from comic_pipeline.model.money import ZERO
from comic_pipeline.model.project import Project
from comic_pipeline.model.storyboard import OverrideField, Overrides
from comic_pipeline.model.task import Attempt, AttemptState, Task, TaskStatus, TaskType, sha256_hex
from comic_pipeline.model.verdict import Finding, Verdict

FORMAT = "comic-manifest/1"


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True)


class Subject(_Value):
    """Which film. `idea_sha256` and `script_sha256` are hashes of the user's words, `user` of who asked."""

    project_id: str
    title: str
    user: str
    kind: str
    style: str
    aspect: str
    resolution: str
    language: str
    duration_bucket: str
    idea_sha256: str
    script_sha256: str


class StoredFile(_Value):
    """One file of the film in the object store: what it is for, and which bytes."""

    role: str
    media: MediaRef


class Try(_Value):
    """One create at a provider. `cost` is CNY; of a lost answer (`unknown`) it is the estimate that was booked."""

    number: int
    kind: str
    state: str
    request_hash: str
    provider_request_id: str | None
    cost: Decimal


class Work(_Value):
    """One unit of work of the project. `in_film`: its output is in this film; the others are earlier takes, and what failed.

    `inputs` are the SHA-256 of the media that went in, `output_sha256` that of what came out; `file` says where it lies, for what
    is in the film: a manifest that named every earlier take would keep them all from ever being cleared away. `seed` and `voice`
    are None where the model takes none.
    """

    task_id: str
    task_type: str
    shot: int | None
    take: int
    in_film: bool
    status: str
    provider: str
    model: str
    template_hash: str
    input_hash: str
    seed: int | None
    voice: str | None
    inputs: tuple[str, ...]
    output_sha256: str | None
    file: MediaRef | None
    made_at: datetime | None
    cost: Decimal
    tries: tuple[Try, ...]


class Change(_Value):
    """What an operator changed in a shot. Numbers (takes, seeds) as they are, words as their SHA-256."""

    shot: int
    field: str
    value: str


class GateVerdict(_Value):
    """The verdict in force of one gate. `opened_by` (a hash) and the rest are set when a person overrode it."""

    asset: str
    check: str
    data_version: str
    passed: bool
    severity: str
    findings: tuple[Finding, ...]
    opened_by: str | None
    opened_because: str | None


class Costs(_Value):
    """CNY. `spent` is everything that was booked; `in_film` the part of it whose output is in the film."""

    spent: Decimal
    in_film: Decimal
    failed: Decimal
    unknown: Decimal


class Software(_Value):
    """Versions of what made the film, and the code version of each asset."""

    package: str
    python: str
    ffmpeg: str
    assets: dict[str, str]


class Manifest(_Value):
    """The document."""

    format: str
    subject: Subject
    film: MediaRef
    files: tuple[StoredFile, ...]
    work: tuple[Work, ...]
    changes: tuple[Change, ...]
    verdicts: tuple[GateVerdict, ...]
    costs: Costs
    licences: tuple[Licence, ...]
    software: Software


class Books(_Value):
    """Everything that the database says of one project, read at one moment; `tries` by task id."""

    project: Project
    tasks: tuple[Task, ...]
    tries: dict[str, tuple[Attempt, ...]]
    overrides: Overrides
    verdicts: tuple[Verdict, ...]


def assemble(
    books: Books, *, film: MediaRef, files: Sequence[StoredFile], software: Software, hash_person: Callable[[str], str]
) -> Manifest:
    """The manifest of `film`, one of the project's. `hash_person` makes of a name what others may see of it."""
    used = tasks_in(film.sha256, books.tasks)
    work = tuple(_work(task, books.tries.get(task.task_id, ()), in_film=task.task_id in used) for task in books.tasks)
    return Manifest(
        format=FORMAT,
        subject=_subject(books.project, user=hash_person(books.project.user_id)),
        film=film,
        files=tuple(files),
        work=work,
        changes=tuple(_change(item.seq, item.field, item.value) for item in books.overrides.items),
        verdicts=tuple(_verdict(verdict, hash_person) for verdict in books.verdicts),
        costs=_costs(work),
        licences=licences_of(one.provider for one in work if one.in_film),
        software=software,
    )


def tasks_in(film_sha256: str, tasks: Sequence[Task]) -> set[str]:
    """Ids of the tasks whose output is in the film: from its bytes back through every input, and the newest storyboard."""
    makers: dict[str, list[Task]] = {}
    for task in tasks:
        if task.output is not None:
            makers.setdefault(task.output.sha256, []).append(task)
    found: set[str] = set()
    wanted = [film_sha256]
    while wanted:
        for task in makers.get(wanted.pop(), ()):
            if task.task_id not in found:
                found.add(task.task_id)
                wanted.extend(_asked(task).get("inputs", ()))
    told = [task for task in tasks if task.task_type is TaskType.STORYBOARD and task.status is TaskStatus.SUCCESS]
    return found | {max(told, key=lambda task: task.finished_at or task.created_at).task_id} if told else found


def _work(task: Task, tries: Sequence[Attempt], *, in_film: bool) -> Work:
    asked = _asked(task)
    sent = asked.get("sent", {})
    seed = sent.get("seed")
    return Work(
        task_id=task.task_id,
        task_type=task.task_type,
        shot=task.shot_seq,
        take=task.take,
        in_film=in_film,
        status=task.status,
        provider=task.provider_id,
        model=asked.get("model", ""),
        template_hash=asked.get("template", ""),
        input_hash=task.input_hash,
        seed=seed if isinstance(seed, int) else None,
        voice=_voice(sent),
        inputs=tuple(asked.get("inputs", ())),
        output_sha256=task.output.sha256 if task.output else None,
        file=task.output if in_film else None,
        made_at=task.finished_at,
        cost=sum((one.cost or ZERO for one in tries), ZERO),
        tries=tuple(
            Try(
                number=one.number,
                kind=one.kind,
                state=one.state,
                request_hash=one.request_hash,
                provider_request_id=one.provider_request_id,
                cost=one.cost or ZERO,
            )
            for one in tries
        ),
    )


def _asked(task: Task) -> Mapping[str, Any]:
    """What decides the task's result, as the runner wrote it down."""
    asked: Mapping[str, Any] = json.loads(task.input_json)
    return asked


def _voice(sent: Mapping[str, Any]) -> str | None:
    """The voice of a spoken line, wherever its vendor's request names it."""
    voice = sent.get("voice") or sent.get("req_params", {}).get("speaker") or sent.get("audio", {}).get("voice_type")
    return str(voice) if voice else None


def _subject(project: Project, *, user: str) -> Subject:
    return Subject(
        project_id=project.id,
        title=project.title,
        user=user,
        kind=project.kind,
        style=project.style,
        aspect=project.aspect,
        resolution=project.resolution,
        language=project.language,
        duration_bucket=project.duration_bucket,
        idea_sha256=sha256_hex(project.idea.encode()),
        script_sha256=sha256_hex(project.script.encode()),
    )


def _change(shot: int, field: OverrideField, value: str) -> Change:
    number = field.startswith("take_") or field in (OverrideField.SEED, OverrideField.CLIP_SEED)
    return Change(shot=shot, field=field, value=value if number else f"sha256:{sha256_hex(value.encode())}")


def _verdict(verdict: Verdict, hash_person: Callable[[str], str]) -> GateVerdict:
    return GateVerdict(
        asset=verdict.asset,
        check=verdict.check,
        data_version=verdict.data_version,
        passed=verdict.passed,
        severity=verdict.severity,
        findings=verdict.findings,
        opened_by=hash_person(verdict.override_by) if verdict.override_by else None,
        opened_because=verdict.override_reason,
    )


def _costs(work: Sequence[Work]) -> Costs:
    tries = [one for piece in work for one in piece.tries]

    def booked(state: AttemptState) -> Decimal:
        return sum((one.cost for one in tries if one.state == state), ZERO)

    return Costs(
        spent=sum((one.cost for one in tries), ZERO),
        in_film=sum((one.cost for piece in work if piece.in_film for one in piece.tries), ZERO),
        failed=booked(AttemptState.FAILED),
        unknown=booked(AttemptState.UNKNOWN),
    )
