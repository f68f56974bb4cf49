"""The progress of `comic demo`: stage, shots ready of total, elapsed; on one line of any terminal, and readable in a log."""

import io
import re

import pytest
from rich.console import Console, Group

from comic_pipeline.display import DemoProgress
from comic_pipeline.model.task import TaskStatus, TaskType
from comic_pipeline.status import ProjectStatus
from comic_pipeline_tests.builders import a_frame, a_status, a_task


def seen(*done: tuple[TaskType, int]) -> ProjectStatus:
    """A project of three shots whose tasks `done` succeeded; one more clip failed and is made anew."""
    tasks = [a_task(a_frame(seq=seq, task_type=kind)) for kind, seq in done]
    tasks.append(a_task(a_frame(seq=2, task_type=TaskType.CLIP), status=TaskStatus.RETRYING))
    return a_status(progress=85, frames_ready=3, total_frames=3, tasks=tuple(tasks))


def shown(progress: DemoProgress, *, width: int) -> str:
    """What a terminal of `width` columns shows. A group keeps the line as it is, as the live display does."""
    terminal = Console(file=io.StringIO(), width=width, force_terminal=False)
    with terminal.capture() as capture:
        terminal.print(Group(progress))
    return capture.get()


@pytest.mark.parametrize(
    ("stage", "said"), [("storyboard", "storyboard  "), ("frames", "frames 2/3"), ("clips", "clips 1/3"), ("film", "film  ")]
)
def test_the_line_counts_the_shots_of_the_stage_that_is_at_work(stage: str, said: str) -> None:
    """It once said `pictures 3/3` while the clips were made: nobody saw how far they were. A redone shot counts once."""
    progress = DemoProgress()
    progress.status = seen((TaskType.FRAME_IMAGE, 0), (TaskType.FRAME_IMAGE, 0), (TaskType.FRAME_IMAGE, 1), (TaskType.CLIP, 0))
    progress.enter(stage)
    line = shown(progress, width=120)
    assert said in line
    assert re.search(r"^ +\d+\.\d s .* 85%", line)


@pytest.mark.parametrize("width", [12, 40, 80])
def test_the_line_stays_one_line(width: int) -> None:
    """A wrapped line leaves its first half behind at every turn; the stage stands first and is cut last."""
    progress = DemoProgress()
    progress.status = seen((TaskType.CLIP, 0))
    progress.enter("clips")
    line = shown(progress, width=width)
    assert line.count("\n") == 1
    assert len(line.rstrip("\n")) <= width
    assert "cl" in line


def test_a_log_gets_one_line_for_each_stage() -> None:
    """Where no line can be redrawn (a pipe, TERM=dumb) there was nothing to see for 40 s."""
    log = io.StringIO()
    progress = DemoProgress(Console(file=log))
    for stage in ("storyboard", "frames"):
        progress.enter(stage)
    assert re.fullmatch(r" +\d+\.\d s  storyboard\n +\d+\.\d s  frames\n", log.getvalue())
