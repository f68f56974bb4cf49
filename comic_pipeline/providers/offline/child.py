"""Local work in a child process: bytes in, bytes out, and surely gone when the work is stopped.

A thread would end only when it is done: a run that was told to stop would go on drawing. A child is killed at once.
"""

import asyncio
import contextlib
import sys

from comic_pipeline.model.errors import ErrorCode, ProviderFault
from comic_pipeline.settings import child_environment


async def run_child(arguments: tuple[str, ...], payload: bytes, *, what: str, limit: float) -> bytes:
    """What `python <arguments>` writes when it is given `payload`. Killed and reaped when cancelled, or after `limit` seconds.

    Raises ProviderFault: PROVIDER_TIMEOUT when it was too slow, PROVIDER_ERROR when it cannot start or fails; `what` names it.
    """
    pipe = asyncio.subprocess.PIPE
    try:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", *arguments, stdin=pipe, stdout=pipe, stderr=pipe, env=child_environment()
        )
    except OSError as refused:
        raise ProviderFault(ErrorCode.PROVIDER_ERROR, f"the {what} process cannot be started: {refused}") from refused
    try:
        async with asyncio.timeout(limit):
            result, messages = await process.communicate(payload)
    except TimeoutError as late:
        raise ProviderFault(ErrorCode.PROVIDER_TIMEOUT, f"the {what} process was stopped after {limit:g} s") from late
    finally:
        await _end(process)
    if process.returncode != 0:
        said = messages.decode(errors="replace").strip()[-500:]
        raise ProviderFault(
            ErrorCode.PROVIDER_ERROR, f"the {what} process ended with {process.returncode}: {said or 'no message'}"
        )
    return result


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):  # it ended by itself in this very moment
        process.kill()
    await process.wait()
