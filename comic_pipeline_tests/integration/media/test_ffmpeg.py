"""The ffmpeg child process: it ends well, fails with its reason, and never outlives its caller."""

import asyncio
import os
import stat
from pathlib import Path

import psutil
import pytest

from comic_pipeline.media.ffmpeg import STDERR_TAIL, ffmpeg_path, run_ffmpeg
from comic_pipeline.model.errors import ErrorCode, MediaFault

# Reads at the speed of the clock, so it runs for an hour unless it is killed.
ENDLESS = ("-re", "-f", "lavfi", "-i", "testsrc2=d=3600", "-f", "null", "-")


def _children() -> list[psutil.Process]:
    return [child for child in psutil.Process().children(recursive=True) if child.status() != psutil.STATUS_ZOMBIE]


async def _until_started(before: set[int]) -> psutil.Process:
    while True:
        for child in _children():
            if child.pid not in before and "testsrc2" in " ".join(child.cmdline()):
                return child
        await asyncio.sleep(0.02)


def test_a_configured_executable_wins_and_a_relative_path_is_made_absolute(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The child is started in another folder, where `./ffmpeg` would not be found."""
    monkeypatch.chdir(tmp_path)
    assert ffmpeg_path("ffmpeg-of-mine") == "ffmpeg-of-mine"
    assert ffmpeg_path("./tools/ffmpeg") == str(tmp_path / "tools/ffmpeg")


def test_without_configuration_the_bundled_executable_is_used() -> None:
    """Nothing has to be installed by hand."""
    assert os.access(ffmpeg_path(), os.X_OK)


def test_a_run_leaves_its_output_in_the_folder_it_ran_in(ffmpeg: str, tmp_path: Path) -> None:
    """Relative names in arguments and graphs belong to `cwd`."""
    asyncio.run(run_ffmpeg(["-f", "lavfi", "-i", "color=d=0.1", "out.mp4"], ffmpeg=ffmpeg, timeout=30, cwd=tmp_path))
    assert (tmp_path / "out.mp4").stat().st_size > 0


def test_a_failure_carries_what_ffmpeg_said(ffmpeg: str, tmp_path: Path) -> None:
    """An operator must see the reason without opening logs."""
    with pytest.raises(MediaFault, match=r"nothing-here\.mp4(.|\n)*No such file") as raised:
        asyncio.run(run_ffmpeg(["-i", "nothing-here.mp4", "out.mp4"], ffmpeg=ffmpeg, timeout=30, cwd=tmp_path))
    assert raised.value.code is ErrorCode.FFMPEG_FAILED


def test_only_the_end_of_a_flood_of_messages_is_kept(tmp_path: Path) -> None:
    """A full pipe must not block the child, and an error row must stay small."""
    noisy = tmp_path / "noisy"
    noisy.write_text("#!/bin/sh\nyes 'a long complaint' | head -c 1000000 >&2\necho 'the real reason' >&2\nexit 3\n")
    noisy.chmod(noisy.stat().st_mode | stat.S_IXUSR)
    with pytest.raises(MediaFault, match="status 3") as raised:
        asyncio.run(run_ffmpeg([], ffmpeg=str(noisy), timeout=30))
    assert raised.value.detail.endswith("the real reason")
    assert len(raised.value.detail) < STDERR_TAIL + 100


def test_an_executable_that_is_not_there_is_a_media_fault(tmp_path: Path) -> None:
    """COMIC_FFMPEG with a typing error is named, not a bare FileNotFoundError."""
    with pytest.raises(MediaFault, match="missing-ffmpeg"):
        asyncio.run(run_ffmpeg([], ffmpeg=str(tmp_path / "missing-ffmpeg"), timeout=30))


def test_cancelling_kills_the_child_and_then_goes_on_as_cancellation(ffmpeg: str) -> None:
    """A cancelled stage must not leave an ffmpeg that burns a core for the rest of its hour."""

    async def cancelled_run() -> psutil.Process:
        task = asyncio.create_task(run_ffmpeg(ENDLESS, ffmpeg=ffmpeg, timeout=600))
        child = await _until_started(before=set())
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return child

    child = asyncio.run(cancelled_run())
    assert not child.is_running()


def test_the_whole_group_dies_not_only_the_first_process(tmp_path: Path) -> None:
    """A wrapper script as COMIC_FFMPEG starts the real ffmpeg as its own child."""
    wrapper = tmp_path / "wrapper"
    wrapper.write_text("#!/bin/sh\nsleep 3601 &\necho $! > grandchild\nwait\n")
    wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
    with pytest.raises(MediaFault, match="stopped after"):
        asyncio.run(run_ffmpeg([], ffmpeg=str(wrapper), timeout=1, cwd=tmp_path))
    grandchild = int((tmp_path / "grandchild").read_text())
    # An orphan is reaped by init a moment after it was killed.
    assert not psutil.pid_exists(grandchild) or psutil.Process(grandchild).status() == psutil.STATUS_ZOMBIE


def test_a_run_that_takes_too_long_is_killed(ffmpeg: str) -> None:
    """A render that hangs ends with its own fault at the limit."""
    with pytest.raises(MediaFault, match=r"stopped after 0\.5 s") as raised:
        asyncio.run(run_ffmpeg(ENDLESS, ffmpeg=ffmpeg, timeout=0.5))
    assert raised.value.code is ErrorCode.FFMPEG_FAILED
    assert not [child for child in _children() if "testsrc2" in " ".join(child.cmdline())]


def test_a_nul_in_an_argument_is_a_media_fault(ffmpeg: str, tmp_path: Path) -> None:
    """The operating system refuses it; the caller sees one kind of exception."""
    with pytest.raises(MediaFault, match="cannot be started"):
        asyncio.run(run_ffmpeg(["-i", "a\0b"], ffmpeg=ffmpeg, timeout=5, cwd=tmp_path))
