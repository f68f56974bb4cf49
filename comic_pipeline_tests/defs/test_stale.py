"""Stale means stale: on a real instance, after real runs of the storyboard and of the music that is made from it."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster._core.asset_graph_view.asset_graph_view import AssetGraphView
from dagster._core.definitions.assets.graph.base_asset_graph import BaseAssetGraph
from dagster._core.definitions.data_version import CachingStaleStatusResolver, StaleCauseCategory, StaleStatus
from dagster._core.definitions.temporal_context import TemporalContext
from sqlalchemy import update

from comic_pipeline.definitions import build_definitions
from comic_pipeline.defs.partitions import PROJECTS
from comic_pipeline.home import prepare_home
from comic_pipeline.model.workflow import ProjectState, StageStatus
from comic_pipeline.settings import load_settings
from comic_pipeline.stages.workshop import Workshop, open_workshop
from comic_pipeline.store import projects, schema
from comic_pipeline_tests.builders import a_project

STORYBOARD, MUSIC = dg.AssetKey("storyboard"), dg.AssetKey("music")


@pytest.fixture
def workshop(tmp_path: Path) -> Iterator[Workshop]:
    """A home with one project; without music, so that its asset takes no time."""
    settings = load_settings(COMIC_HOME=str(tmp_path / "home"), COMIC_MUSIC="none")
    prepare_home(settings)
    opened = open_workshop(settings)
    with opened.database.write() as connection:
        projects.insert(connection, a_project(status=ProjectState.SCRIPT))
    yield opened
    opened.database.close()


class Ui:
    """What the UI's lineage shows of project p1."""

    def __init__(self, instance: dg.DagsterInstance, workshop: Workshop) -> None:
        self._instance, self._workshop, self._definitions = instance, workshop, build_definitions(lambda: workshop)

    def run(self, key: dg.AssetKey) -> None:
        """Materialize one asset with its checks, as the button does."""
        job = self._definitions.resolve_implicit_global_asset_job_def()
        assert job.execute_in_process(instance=self._instance, partition_key="p1", asset_selection=[key]).success
        # As the reconciler does with the round that the run has registered.
        with self._workshop.database.write() as connection:
            connection.execute(update(schema.stages).values(status=StageStatus.PASSED))

    def status(self, key: dg.AssetKey, graph: BaseAssetGraph[Any] | None = None) -> tuple[StaleStatus, set[StaleCauseCategory]]:
        """Fresh, stale or missing, and why."""
        shown = graph or self._definitions.get_repository_def().asset_graph
        view = AssetGraphView(
            temporal_context=TemporalContext(effective_dt=datetime.now().astimezone(), last_event_id=None),
            instance=self._instance,
            asset_graph=shown,
        )
        resolver = CachingStaleStatusResolver(instance=self._instance, asset_graph=shown, loading_context=view)
        causes = resolver.get_stale_causes(key, "p1")
        return resolver.get_status(key, "p1"), {cause.category for cause in causes}

    def graph_with(self, code_version: str) -> BaseAssetGraph[Any]:
        """The graph of a next release, in which the music's code has this version."""

        def release(spec: dg.AssetSpec) -> dg.AssetSpec:
            return spec.replace_attributes(code_version=code_version) if spec.key == MUSIC else spec

        return self._definitions.map_asset_specs(func=release).get_repository_def().asset_graph


def test_only_what_has_changed_is_stale(workshop: Workshop) -> None:
    """The same storyboard made again leaves the music fresh; a new one, or new code of the music, makes it stale."""
    fresh: tuple[StaleStatus, set[StaleCauseCategory]] = (StaleStatus.FRESH, set())
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions(PROJECTS.name or "", ["p1"])
        ui = Ui(instance, workshop)
        assert ui.status(MUSIC) == (StaleStatus.MISSING, set())
        ui.run(STORYBOARD)
        ui.run(MUSIC)
        assert ui.status(STORYBOARD) == ui.status(MUSIC) == fresh
        ui.run(STORYBOARD)
        assert ui.status(STORYBOARD) == ui.status(MUSIC) == fresh
        with workshop.database.write() as connection:
            connection.execute(update(schema.projects).values(idea="A robot learns to paint the sea"))
        ui.run(STORYBOARD)
        assert ui.status(STORYBOARD) == fresh
        assert ui.status(MUSIC) == (StaleStatus.STALE, {StaleCauseCategory.DATA})
        ui.run(MUSIC)
        assert ui.status(MUSIC) == fresh
        assert ui.status(MUSIC, ui.graph_with("2")) == (StaleStatus.STALE, {StaleCauseCategory.CODE})
