"""What the data team sees around the graph: columns with meanings, providers in use, and nothing of it ever runs."""

from types import SimpleNamespace
from typing import Any

import dagster as dg
import pytest

from comic_pipeline.definitions import defs
from comic_pipeline.defs.assets.motion import _show_clips
from comic_pipeline.defs.assets.pictures import _show_frames
from comic_pipeline.defs.assets.sound import _show_lines
from comic_pipeline.defs.assets.story import _show_storyboard
from comic_pipeline.defs.columns import COLUMN_SCHEMA
from comic_pipeline.defs.coordinator import _stages_of
from comic_pipeline.defs.metadata import code_versions
from comic_pipeline.defs.sources import source_specs
from comic_pipeline.model.workflow import STAGE_OF_ASSET
from comic_pipeline.settings import load_settings
from comic_pipeline.store.catalog import SUBMISSIONS, VIEWS
from comic_pipeline_tests.defs.test_gates_between import _MADE, _MEDIA, DOCUMENTS

SPECS = {spec.key.to_user_string(): spec for spec in defs.resolve_all_asset_specs()}
TABLES = {"storyboard", "frame_images", "voice_lines", "clips", "daily_production", "submissions", *(view.name for view in VIEWS)}
CONTEXT: Any = SimpleNamespace(resources=SimpleNamespace(workshop=SimpleNamespace(objects=SimpleNamespace(url=lambda key: key))))


@pytest.mark.parametrize("name", sorted(TABLES))
def test_every_column_of_every_table_has_a_meaning(name: str) -> None:
    """A column without words is one that somebody has to ask about."""
    columns = SPECS[name].metadata[COLUMN_SCHEMA].columns
    assert columns
    assert all(column.description and column.type for column in columns)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("storyboard", lambda: _show_storyboard((DOCUMENTS["storyboard"], SimpleNamespace(made=_MADE)))),  # type: ignore[arg-type]
        ("frame_images", lambda: _show_frames(CONTEXT, (DOCUMENTS["frame_images"], _MEDIA))),  # type: ignore[arg-type]
        ("voice_lines", lambda: _show_lines(CONTEXT, DOCUMENTS["voice_lines"])),  # type: ignore[arg-type]
        ("clips", lambda: _show_clips(CONTEXT, DOCUMENTS["clips"])),  # type: ignore[arg-type]
    ],
)
def test_the_table_of_shots_has_the_columns_that_it_says(name: str, shown: Any) -> None:
    """A column that the rows have and the schema forgets has no meaning; one that only the schema has stays empty."""
    table = shown().metadata["shot_table"]
    named = [column.name for column in SPECS[name].metadata[COLUMN_SCHEMA].columns]
    assert [column.name for column in table.schema.columns] == named
    assert all(list(record.data) == named for record in table.records)
    assert table.records


def test_sources_say_which_provider_is_in_use() -> None:
    """Provider, model and host by the settings; never a key, and nothing of a base URL but its host."""
    settings = load_settings(
        COMIC_TEXT_PROVIDER="openai",
        OPENAI_API_KEY="sk-secret",
        OPENAI_BASE_URL="https://u:sk-secret@llm.example/v1",
        COMIC_VIDEO_PROVIDER="ark",
        ARK_API_KEY="ark-secret",
    )
    specs = {spec.key.to_user_string(): spec for spec in source_specs(settings)}
    text, video, voice = (specs[f"{craft}_provider"] for craft in ("text", "video", "voice"))
    assert (text.metadata["provider"], text.metadata["model"], text.metadata["host"]) == ("openai_text", "gpt-4.1", "llm.example")
    assert (video.metadata["provider"], video.metadata["model"]) == ("ark_video", settings.ark_video_model)
    assert (voice.metadata["provider"], voice.metadata["host"]) == ("offline_voice", "this machine")
    assert {"api", "ark"} == video.kinds
    assert "secret" not in repr(specs)


def test_nothing_around_the_graph_is_ever_run() -> None:
    """`Materialize all` and the selection of everything take only what a run can make."""
    job = defs.resolve_implicit_global_asset_job_def()
    runnable = {key.to_user_string() for key in job.asset_layer.executable_asset_keys}
    outside = {SUBMISSIONS.name, *(view.name for view in VIEWS), *(key for key in SPECS if key.endswith("_provider"))}
    assert len(outside) == 9
    assert not runnable & outside
    assert {"storyboard", "published_video", "daily_production"} <= runnable


def test_a_manifest_names_the_assets_of_films_alone() -> None:
    """Nobody's film was made by a view: the versions in a manifest are those of what stages make, and none is empty."""
    context: Any = SimpleNamespace(job_def=defs.resolve_job_def("make_film"))
    named = code_versions(context)
    assert set(named) <= STAGE_OF_ASSET.keys()
    assert {"storyboard", "final_video"} <= set(named)
    assert all(named.values())


def test_a_report_is_no_stage_to_the_queue() -> None:
    """Sources, views and reports in a selection add no stage, so no provider's limit and no project's lock."""
    run: Any = SimpleNamespace(
        asset_selection={dg.AssetKey(name) for name in ("daily_production", "text_provider", "submissions", "qc_results")},
        job_name="__ASSET_JOB",
    )
    assert _stages_of(run) == []
