"""The workshop as Dagster opens and closes it around an evaluation or a run."""

from pathlib import Path
from typing import cast

import dagster as dg
from sqlalchemy.pool import QueuePool

from comic_pipeline.defs.reporting import status_sensor
from comic_pipeline.defs.resources import workshop_resource
from comic_pipeline.stages.workshop import Workshop
from comic_pipeline_tests.homes import opened_home


def _idle(workshop: Workshop) -> int:
    """Connections that are open and used by nobody."""
    return cast("QueuePool", workshop.database.engine.pool).checkedin()


def test_an_evaluation_leaves_no_connection_open(tmp_path: Path) -> None:
    """Each opens a workshop of its own, for ever: ten of them lay about idle, 35 open files instead of 6."""
    with opened_home(tmp_path / "home") as workshop:
        resources = {"workshop": workshop_resource(lambda: workshop)}
        with dg.DagsterInstance.ephemeral() as instance, dg.build_sensor_context(instance, resources=resources) as context:
            status_sensor.evaluate_tick(context)
            assert _idle(workshop) == 1
        assert _idle(workshop) == 0
        # A demo shares its workshop between runs: it is not used up.
        with workshop.database.read() as connection:
            assert connection.exec_driver_sql("SELECT 1").scalar_one() == 1
