"""COMIC_HOME: the embedded profile's folder. `comic init` prepares it; everybody else only checks."""

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
    _make_writable(settings.home)
    for folder in (settings.dagster_home, settings.files):
        folder.mkdir(parents=True, exist_ok=True)
    template = (_SHIPPED / "dagster.yaml").read_text(encoding="utf-8")
    (settings.dagster_home / "dagster.yaml").write_text(
        template.replace(_FILES_HOLE, f'"{settings.files.as_posix()}"'), encoding="utf-8"
    )
    prepare_objects(settings)
    return migrate(settings.effective_database_url)


def workspace_file() -> Path:
    """This project's `workspace.yaml`."""
    return _SHIPPED / "workspace.yaml"


def _make_writable(home: Path) -> None:
    try:
        home.mkdir(parents=True, exist_ok=True)
        probe = home / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as fault:
        raise Refused(
            ErrorCode.INPUT_INVALID,
            f"COMIC_HOME {str(home)!r} cannot be written ({fault.strerror or fault}); set it to a folder of yours",
        ) from fault
