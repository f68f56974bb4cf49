"""How status and progress look in a terminal. Words and tables only; reads nothing itself."""

import time
from collections.abc import Iterable

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from comic_pipeline.model.errors import ERROR_RULES
from comic_pipeline.model.money import show
from comic_pipeline.model.project import Project
from comic_pipeline.status import ProjectStatus


class DemoProgress:
    """The live line of `comic demo`: stage, shots ready of total, elapsed. `status` is set from outside."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._stage = "submitting"
        self.status: ProjectStatus | None = None

    def enter(self, stage: str) -> None:
        """A stage begins."""
        self._stage = stage

    def __rich__(self) -> RenderableType:
        seen = self.status
        elapsed = f"{time.monotonic() - self._began:5.1f} s"
        if seen is None:
            return Text(f"{elapsed}  {self._stage}")
        bar = "█" * (seen.progress // 5) + "░" * (20 - seen.progress // 5)
        return Text(
            f"{elapsed}  {bar} {seen.progress:3d}%  {self._stage}  "
            f"pictures {seen.frames_ready}/{seen.total_frames}  {show(seen.cost)}"
        )


def print_projects(console: Console, found: Iterable[Project]) -> None:
    """A table of projects."""
    table = Table("project", "user", "tier", "state", "title", "created (UTC)", box=None)
    for project in found:
        title = project.title or project.idea[:24] or project.script[:24]
        table.add_row(project.id, project.user_id, project.tier, project.status, title, f"{project.created_at:%Y-%m-%d %H:%M:%S}")
    console.print(table, highlight=False)


def print_status(console: Console, seen: ProjectStatus) -> None:
    """One project and its tasks."""
    console.print(f"[bold]{seen.project_id}[/] {seen.title}  {seen.status}  {seen.words_zh} / {seen.words_en}", highlight=False)
    eta = "unknown" if seen.eta_seconds is None else f"{seen.eta_seconds} s"
    console.print(
        f"progress {seen.progress}%  pictures {seen.frames_ready}/{seen.total_frames}  cost {show(seen.cost)}  left {eta}",
        highlight=False,
    )
    if seen.error_code is not None:
        rule = ERROR_RULES[seen.error_code]
        console.print(
            f"[red]{seen.error_code}[/] {rule.zh} / {rule.en}\n{seen.error_message or ''}", highlight=False, soft_wrap=True
        )
    if seen.film is not None:
        console.print(f"film {seen.film}", highlight=False, soft_wrap=True)
    table = Table("task", "shot", "status", "provider", "request", "cost", "retries", "error", box=None)
    for task in seen.tasks:
        shot = "" if task.shot_seq is None else str(task.shot_seq)
        table.add_row(
            task.task_type,
            shot,
            task.status,
            task.provider_id,
            task.provider_request_id or "",
            show(task.cost_actual),
            str(task.retry_count),
            task.error_code or "",
        )
    console.print(table, highlight=False)
