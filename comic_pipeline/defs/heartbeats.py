"""Whether Dagster's daemon lives: what moves films when nobody is looking. Read by `comic doctor`."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
from dagster._core.instance.config import is_dagster_home_set  # DagsterInstance.get() asks it too; not exported
from dagster_postgres.utils import DagsterPostgresException

from comic_pipeline.store.database import DatabaseFault

# Daemons post every 30 s; after four missed posts something is wrong.
TOLERANCE = 120.0


@dataclass(frozen=True)
class Heartbeats:
    """Daemons that should run: each with its age in seconds (None: it never ran here), and errors that they have met lately."""

    ages: dict[str, float | None]
    errors: tuple[str, ...] = ()
    unreadable: str = ""

    @property
    def silent(self) -> tuple[str, ...]:
        """Daemons that have not been heard of lately."""
        return tuple(sorted(name for name, age in self.ages.items() if age is None or age > TOLERANCE))


def read_heartbeats(dagster_home: Path) -> Heartbeats:
    """From the instance that DAGSTER_HOME names, else from the one in `dagster_home`."""
    if not is_dagster_home_set() and not (dagster_home / "dagster.yaml").is_file():
        return Heartbeats({}, unreadable=f"there is no Dagster home in {dagster_home}")
    try:
        with dg.DagsterInstance.get() if is_dagster_home_set() else dg.DagsterInstance.from_config(str(dagster_home)) as instance:
            found, now = instance.get_daemon_heartbeats(), datetime.now(UTC).timestamp()
            required = instance.get_required_daemon_types()
    except (dg.DagsterError, DagsterPostgresException, DatabaseFault) as fault:
        return Heartbeats({}, unreadable=f"Dagster's storage cannot be opened ({type(fault).__name__})")
    ages = {name: now - found[name].timestamp if name in found else None for name in required}
    errors = tuple(error.message.strip()[:200] for beat in found.values() for error in beat.errors or ())
    return Heartbeats(ages, errors=errors)
