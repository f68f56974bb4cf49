"""COMIC_HOME: the embedded profile's folder. `comic init`, `comic dev` and `comic demo` prepare it; all others only check."""

import fcntl
import os
import shutil
from pathlib import Path

from comic_pipeline.model.errors import ErrorCode, Refused
from comic_pipeline.objects.build import prepare_objects
from comic_pipeline.settings import Settings
from comic_pipeline.store.migrate import migrate

_SHIPPED = Path(__file__).resolve().parent.parent
# `dagster.yaml` is shared by all profiles; only the folder that the webserver serves differs.
_FILES_HOLE = "{env: COMIC_FILES}"


def prepare_home(settings: Settings) -> str:
    """Create COMIC_HOME, the Dagster home with this project's `dagster.yaml` and the bucket; migrate the comic database.

    Returns the database's version. Raises Refused(INPUT_INVALID) naming the folder when it cannot be written, StorageFault when
    database or object store do not answer. Running it again is harmless.
    """
    for folder in (settings.home, settings.dagster_home, settings.files):
        make_writable(folder, name="COMIC_HOME")
    _make_folder_of_database(settings)
    template = (_SHIPPED / "dagster.yaml").read_text(encoding="utf-8")
    part = settings.dagster_home / ".dagster.yaml.part"
    part.write_text(template.replace(_FILES_HOLE, f'"{settings.files.as_posix()}"'), encoding="utf-8")
    # In one stroke: a deployment at work may read it at this moment.
    part.replace(settings.dagster_home / "dagster.yaml")
    prepare_objects(settings)
    return migrate(settings.effective_database_url)


def check_room(folder: Path, *, name: str, megabytes: int) -> None:
    """Raise Refused(INPUT_INVALID) with `name`, `folder` and both numbers unless its disk has so much room left."""
    free = shutil.disk_usage(folder).free // 1_000_000
    if free < megabytes:
        raise Refused(
            ErrorCode.INPUT_INVALID,
            f"{name} {str(folder)!r} has {free} MB left on its disk, this film takes about {megabytes}: "
            "free some space, or set it to a folder on another disk",
        )


def hold_home(settings: Settings) -> int:
    """Become the one that drives this COMIC_HOME until this process ends, whatever program it becomes: two daemons would clash.

    Returns the open file that stands for it. Raises Refused(CONFLICT) while another `comic dev` or `comic demo` has it,
    Refused(INPUT_INVALID) when the folder cannot be written.
    """
    make_writable(settings.home, name="COMIC_HOME")
    descriptor = os.open(settings.home / ".driver", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise Refused(
            ErrorCode.CONFLICT,
            f"COMIC_HOME {str(settings.home)!r} is driven by another `comic dev` or `comic demo`: "
            "end that one, use `comic submit`, or set COMIC_HOME to another folder",
        ) from None
    os.set_inheritable(descriptor, True)
    return descriptor


def workspace_file() -> Path:
    """This project's `workspace.yaml`."""
    return _SHIPPED / "workspace.yaml"


def _make_folder_of_database(settings: Settings) -> None:
    if settings.database_file is None:
        return
    folder = settings.database_file.absolute().parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise Refused(
            ErrorCode.INPUT_INVALID, f"COMIC_DATABASE_URL: folder {str(folder)!r} cannot be made ({fault.strerror or fault})"
        ) from fault


def make_writable(folder: Path, *, name: str) -> None:
    """Create `folder` when it is missing and try to write there. Raises Refused(INPUT_INVALID) with `name`, folder and reason."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".writable"
        probe.touch()
        # Two that look at once use one file: the second finds it removed.
        probe.unlink(missing_ok=True)
    except OSError as fault:
        raise Refused(
            ErrorCode.INPUT_INVALID,
            f"{name} {str(folder)!r} cannot be written ({fault.strerror or fault}); set it to a folder of yours",
        ) from fault
