"""A small disk of its own that a test may fill up."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, *, megabytes: int) -> Iterator[Path]:
    """A file system of that size in memory, mounted on `folder`. Skips the test where this user may not mount."""
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "comic-test", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode != 0:
        pytest.skip(f"no right to mount a disk to fill: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def fill(disk: Path) -> Path:
    """Fill the disk to the last byte with one file, which is returned: deleting it makes room again."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        room = shutil.disk_usage(disk).free
        while room > 0:
            room -= file.write(b"\0" * min(room, 1 << 20))
    return ballast
