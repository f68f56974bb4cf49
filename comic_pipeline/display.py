"""How status and progress look in a terminal. Words and tables only; reads nothing itself.

What users and providers wrote is never markup and moves no cursor: it goes through `plain`.
"""

import re
import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from decimal import Decimal

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from comic_pipeline.model.errors import ERROR_RULES
from comic_pipeline.model.money import show
from comic_pipeline.model.project import Project
from comic_pipeline.model.submission import Submission
from comic_pipeline.model.task import TaskStatus, TaskType
from comic_pipeline.model.verdict import Verdict
from comic_pipeline.model.workflow import Stage
from comic_pipeline.status import ProjectStatus
from comic_pipeline.store.views import CostLine
from comic_pipeline.tasks import TaskCase

_TABLE_WIDTH = 200
_WORK_OF_SHOTS: dict[str, TaskType] = {
    Stage.FRAMES: TaskType.FRAME_IMAGE,
    Stage.VOICES: TaskType.VOICE_LINE,
    Stage.CLIPS: TaskType.CLIP,
}
# What a terminal obeys, and what turns the direction of writing. Line ends and tabs of a message stay.
_COMMANDS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def plain(text: object) -> Text:
    """`text` as it can be shown: letters for letters, `�` for what a terminal would obey."""
    return Text(_COMMANDS.sub("\ufffd", str(text)))


class DemoProgress:
    """The live line of `comic demo`: stage, its shots ready of total, elapsed. `status` is set from outside.

    On a terminal that cannot redraw a line, and in a log, each stage is a line of its own: `console` is then where.
    """

    def __init__(self, console: Console | None = None) -> None:
        self._began = time.monotonic()
        self._stage = "submitting"
        self._console = console
        self.status: ProjectStatus | None = None

    def enter(self, stage: str) -> None:
        """A stage begins."""
        self._stage = stage
        if self._console is not None:
            self._console.print(f"{self._elapsed()}  {stage}", highlight=False)

    def __rich__(self) -> RenderableType:
        """The most telling first: a narrow terminal cuts the end off."""
        seen = self.status
        if seen is None:
            return Text(f"{self._elapsed()}  {self._stage}", no_wrap=True, overflow="ellipsis")
        bar = "█" * (seen.progress // 5) + "░" * (20 - seen.progress // 5)
        return Text(
            f"{self._elapsed()}  {self._stage}{self._shots(seen)}  {seen.progress:3d}%  {bar}  {show(seen.cost)}",
            no_wrap=True,
            overflow="ellipsis",
        )

    def _elapsed(self) -> str:
        return f"{time.monotonic() - self._began:5.1f} s"

    def _shots(self, seen: ProjectStatus) -> str:
        """How many shots of this stage are ready; nothing for a stage that makes the film as a whole."""
        work = _WORK_OF_SHOTS.get(self._stage)
        if work is None or not seen.total_frames:
            return ""
        ready = {task.shot_seq for task in seen.tasks if task.task_type == work and task.status == TaskStatus.SUCCESS}
        return f" {len(ready)}/{seen.total_frames}"


def print_stopped(console: Console, project_id: str) -> None:
    """What a stopped demo leaves, and the ways on; `project_id` is empty when nothing was begun."""
    if not project_id:
        console.print("stopped before anything was made / 已停止，尚未开始制作", highlight=False, soft_wrap=True)
        return
    console.print(f"stopped; project {project_id} is kept / 已停止，项目 {project_id} 已保留", highlight=False, soft_wrap=True)
    console.print(
        f"`comic dev` goes on with it, `comic cancel {project_id}` ends it / "
        f"`comic dev` 会接着做，`comic cancel {project_id}` 取消",
        highlight=False,
        soft_wrap=True,
    )


def print_projects(console: Console, found: Iterable[Project]) -> None:
    """A table of projects."""
    table = _table("project", "user", "tier", "state", "title", "created (UTC)")
    for project in found:
        title = project.title or project.idea[:24] or project.script[:24]
        _add(table, project.id, project.user_id, project.tier, project.status, title, f"{project.created_at:%Y-%m-%d %H:%M:%S}")
    _print_table(console, table)


def print_progress(console: Console, seen: ProjectStatus, *, told: str | None) -> str:
    """One line on where a project stands, unless that is what was `told` before. Returns the line."""
    now = f"{seen.status}  {seen.progress}%  pictures {seen.frames_ready}/{seen.total_frames}  cost {show(seen.cost)}"
    now += f"  {seen.words_zh} / {seen.words_en}" if seen.cancel_requested else ""
    if now != told:
        console.print(f"{datetime.now(UTC):%H:%M:%S}  {now}", highlight=False, soft_wrap=True)
    return now


def print_status(console: Console, seen: ProjectStatus) -> None:
    """One project and its tasks."""
    head = f" {seen.title}  {seen.status}  {seen.words_zh} / {seen.words_en}"
    console.print(Text(seen.project_id, style="bold").append_text(plain(head)), highlight=False, soft_wrap=True)
    eta = "unknown" if seen.eta_seconds is None else f"{seen.eta_seconds} s"
    console.print(
        f"progress {seen.progress}%  pictures {seen.frames_ready}/{seen.total_frames}  cost {show(seen.cost)}  left {eta}",
        highlight=False,
    )
    if seen.error_code is not None:
        rule = ERROR_RULES[seen.error_code]
        said = plain(f" {rule.zh} / {rule.en}\n{seen.error_message or ''}")
        console.print(Text(seen.error_code, style="red").append_text(said), highlight=False, soft_wrap=True)
    if seen.film is not None:
        console.print(plain(f"film {seen.film}"), highlight=False, soft_wrap=True)
    table = _table("task", "shot", "status", "provider", "request", "cost", "retries", "error")
    for task in seen.tasks:
        shot = "" if task.shot_seq is None else str(task.shot_seq)
        _add(
            table,
            task.task_type,
            shot,
            task.status,
            task.provider_id,
            task.provider_request_id or "",
            show(task.cost_actual),
            str(task.retry_count),
            task.error_code or "",
        )
    _print_table(console, table)


def print_submissions(console: Console, found: Iterable[Submission]) -> None:
    """A table of requests, and why those that were not accepted were not."""
    table = _table("submission", "kind", "user", "tier", "status", "project", "created (UTC)", "why")
    for one in found:
        why = ": ".join(filter(None, (one.error_code, one.error_message)))
        created = f"{one.created_at:%Y-%m-%d %H:%M:%S}"
        _add(table, str(one.id), one.kind, one.user_id, one.tier, one.status, one.project_id or "", created, why)
    _print_table(console, table)


def print_costs(console: Console, lines: Iterable[CostLine], *, total: Decimal) -> None:
    """The books, a line for each project, task type and provider."""
    table = _table("project", "task type", "provider", "tasks", "creates", "cost", "reserved")
    for line in lines:
        _add(
            table,
            line.project_id,
            line.task_type,
            line.provider_id,
            str(line.tasks),
            str(line.attempts),
            show(line.cost),
            show(line.reserved),
        )
    _print_table(console, table)
    console.print(f"total {show(total)}", highlight=False)


def print_estimate(console: Console, found: Mapping[str, Decimal], *, budget: Decimal) -> None:
    """What a film would cost, beside the budget of its tier."""
    console.print("  ".join(f"{stage} {show(amount)}" for stage, amount in found.items()), highlight=False)
    verdict = "within" if found["total"] <= budget else "[red]over[/]"
    console.print(f"{verdict} the budget of {show(budget)} a project of this tier", highlight=False)


def print_case(console: Console, case: TaskCase) -> None:
    """One task and its attempts; the error message names candidates of an unknown outcome."""
    task = case.task
    shot = "" if task.shot_seq is None else f" shot {task.shot_seq}"
    console.print(f"{task.task_id} {task.task_type}{shot} of {task.project_id}: {task.status}", highlight=False, soft_wrap=True)
    if task.error_code is not None:
        console.print(plain(f"{task.error_code}: {task.error_message}"), highlight=False, soft_wrap=True)
    table = _table("attempt", "kind", "state", "provider", "request id", "http", "their code", "estimate", "cost", "began (UTC)")
    for one in case.attempts:
        _add(
            table,
            str(one.number),
            one.kind,
            one.state,
            one.provider_id,
            one.provider_request_id or "",
            str(one.http_status or ""),
            one.provider_code or "",
            show(one.estimate),
            "" if one.cost is None else show(one.cost),
            f"{one.started_at:%m-%d %H:%M:%S}",
        )
    _print_table(console, table)


def print_verdicts(console: Console, found: Iterable[Verdict]) -> None:
    """The verdict in force of each check, and what it found."""
    table = _table("asset", "check", "verdict", "rule", "shot", "measured", "wanted", "opened by")
    for verdict in found:
        opened = f"{verdict.override_by}: {verdict.override_reason}" if verdict.override_by else ""
        word = "closed" if not verdict.passed else "passed"
        _add(table, verdict.asset, verdict.check, word, "", "", "", "", opened)
        for one in verdict.findings:
            shot = "" if one.seq is None else str(one.seq)
            _add(table, "", "", one.severity, one.rule, shot, one.measured, one.wanted, "")
    _print_table(console, table)


def _add(table: Table, *cells: str) -> None:
    table.add_row(*map(plain, cells))


def _table(*names: str) -> Table:
    return Table(*names, box=None)


def _print_table(console: Console, table: Table) -> None:
    """As wide as it is: a narrow terminal breaks the lines, but an id that is cut or folded could not be copied."""
    wide = Console(file=console.file, width=max(console.width, _TABLE_WIDTH))
    wide.print(table, highlight=False)
