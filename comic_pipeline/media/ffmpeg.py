"""Starting ffmpeg: which executable, and one child process that never outlives the work that asked for it.

Belongs here: the process. Does not: what ffmpeg is asked to do (`film.py`).
"""

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from comic_pipeline.model.errors import ErrorCode, MediaFault
from comic_pipeline.settings import child_environment

STDERR_TAIL = 2_048

# Errors only, no questions, no keys read from a terminal, and an old output may be replaced.
_COMMON = ("-hide_banner", "-nostdin", "-loglevel", "error", "-y")
# A file is read as what we make or take, and leads nowhere: a playlist by another name would open addresses and other files.
_DEMUXERS = "mov,matroska,mp3,wav,ogg,flac,aac,srt,image2,png_pipe,jpeg_pipe,webp_pipe,gif,lavfi"
_GUARD = ("-protocol_whitelist", "file", "-format_whitelist", _DEMUXERS)


def ffmpeg_path(configured: str = "") -> str:
    """The executable to use: `configured` (a path, or a name on the PATH) if given, else the bundled one.

    Raises MediaFault(FFMPEG_FAILED) when there is no bundled one for this platform.
    """
    if configured:
        # ffmpeg is started in other folders, where a relative path would mean something else.
        return str(Path(configured).absolute()) if "/" in configured else configured
    import imageio_ffmpeg

    try:
        return str(imageio_ffmpeg.get_ffmpeg_exe())
    except RuntimeError as missing:
        raise MediaFault(
            ErrorCode.FFMPEG_FAILED, f"no bundled ffmpeg for this platform ({missing}); set COMIC_FFMPEG"
        ) from missing


@lru_cache(maxsize=4)
def ffmpeg_version(ffmpeg: str) -> str:
    """What the executable says its version is; blocks some milliseconds the first time. Raises MediaFault(FFMPEG_FAILED)."""
    try:
        told = subprocess.run([ffmpeg, "-version"], capture_output=True, text=True, check=True, timeout=10).stdout
    except (OSError, subprocess.SubprocessError) as refused:
        raise MediaFault(ErrorCode.FFMPEG_FAILED, f"ffmpeg cannot be asked for its version as {ffmpeg!r}: {refused}") from refused
    words = told.split()
    return words[2] if words[:2] == ["ffmpeg", "version"] else told[:80]


def guarded(args: Sequence[str]) -> list[str]:
    """`args` with each input restricted to local files of known kinds."""
    return [part for word in args for part in ((*_GUARD, word) if word == "-i" else (word,))]


async def run_ffmpeg(args: Sequence[str], *, ffmpeg: str, timeout: float, cwd: Path | None = None) -> None:  # noqa: ASYNC109 - the limit kills the child
    """Run `ffmpeg` with `args` (inputs, graph, outputs) in its own process group, at most `timeout` seconds, in folder `cwd`.

    Raises MediaFault(FFMPEG_FAILED) with the last 2 kB of its messages when it cannot start, fails, or takes too long. When this
    coroutine is cancelled or times out, the child and its group are killed and reaped before the exception goes on.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            ffmpeg,
            *_COMMON,
            *guarded(args),
            cwd=cwd,
            env=child_environment(),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as refused:  # ValueError: a NUL in an argument
        raise MediaFault(ErrorCode.FFMPEG_FAILED, f"ffmpeg cannot be started as {ffmpeg!r}: {refused}") from refused
    try:
        async with asyncio.timeout(timeout):
            tail = await _read_tail(process)
            status = await process.wait()
    except TimeoutError as late:
        raise MediaFault(ErrorCode.FFMPEG_FAILED, f"ffmpeg was stopped after {timeout:g} s") from late
    finally:
        await _end(process)
    if status != 0:
        raise MediaFault(ErrorCode.FFMPEG_FAILED, f"ffmpeg ended with status {status}: {tail or 'no message'}")


async def _read_tail(process: asyncio.subprocess.Process) -> str:
    """Read stderr to its end, so that a full pipe never blocks the child; keep only what came last."""
    tail = b""
    while process.stderr is not None and (chunk := await process.stderr.read(65_536)):
        tail = (tail + chunk)[-STDERR_TAIL:]
    return tail.decode(errors="replace").strip()


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):  # it ended by itself in this very moment
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
