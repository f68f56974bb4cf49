"""What every asset, check and job must say of itself, and a picture of the whole graph in text: a lost edge becomes a diff."""

import pytest

from comic_pipeline.definitions import defs
from comic_pipeline.defs.partitions import DAYS, PROJECTS
from comic_pipeline.model.workflow import STAGE_OF_ASSET, STAGE_RULES
from comic_pipeline.quality import GATES
from comic_pipeline.quality.rules import GATE_RULES

GROUPS = {"story", "pictures", "sound", "motion", "film", "release", "projects", "sources", "views", "reports"}
PAID = {"storyboard", "frame_images", "voice_lines", "clips", "music", "final_video"}
VIEWS = {"project_progress": {*PAID, "submissions"}, "project_costs": PAID, "provider_health": PAID, "qc_results": set(GATES)}
SOURCES = ("submissions", "text_provider", "image_provider", "voice_provider", "video_provider")
GRAPH = {
    **{name: set() for name in SOURCES},
    "storyboard": {"submissions", "text_provider"},
    "frame_images": {"storyboard", "image_provider"},
    "voice_lines": {"storyboard", "voice_provider"},
    "clips": {"storyboard", "frame_images", "video_provider"},
    "subtitles": {"voice_lines", "clips"},
    "music": {"storyboard"},
    "final_video": {"storyboard", "voice_lines", "clips", "subtitles", "music"},
    "cover_image": {"storyboard", "frame_images"},
    "timeline_export": {"frame_images", "voice_lines", "clips", "subtitles", "music", "final_video"},
    "review_page": {
        "storyboard",
        "frame_images",
        "voice_lines",
        "clips",
        "subtitles",
        "music",
        "final_video",
        "cover_image",
        "timeline_export",
    },
    "published_video": {"final_video", "cover_image", "subtitles", "review_page"},
    "project_status": set(),
    **VIEWS,
    "daily_production": set(VIEWS),
}
SPECS = {spec.key.to_user_string(): spec for spec in defs.resolve_all_asset_specs()}
# Told by sensors and jobs, or only named: no stage makes them.
EXTERNAL = {"project_status", *SOURCES, *VIEWS}
REPORTS = {"daily_production"}


@pytest.mark.parametrize("name", sorted(SPECS))
def test_every_asset_says_what_it_is_and_whose(name: str) -> None:
    """Description, owner, group, kinds, tags, code version, partition: metadata discipline is a test, not goodwill."""
    spec = SPECS[name]
    assert len(spec.description or "") > 40
    assert spec.owners
    assert spec.group_name in GROUPS
    assert spec.kinds
    assert spec.tags.get("comic/stage") == STAGE_OF_ASSET.get(name)
    assert (name in STAGE_OF_ASSET) != (name in EXTERNAL | REPORTS)
    if name in {*SOURCES, *VIEWS}:
        assert spec.partitions_def is None
        assert spec.tags["comic/source"]
        return
    assert spec.code_version
    assert spec.partitions_def == (DAYS if name in REPORTS else PROJECTS)


def test_the_code_location_loads_as_a_server_loads_it() -> None:
    """An op and a job of one name pass every other test, and then no code server starts."""
    defs.get_repository_def().load_all_definitions()


def test_the_graph_is_the_one_that_was_designed() -> None:
    """Snapshot of assets and their needs."""
    assert {name: {dep.asset_key.to_user_string() for dep in spec.deps} for name, spec in SPECS.items()} == GRAPH


def test_every_gate_is_a_blocking_partitioned_check_of_its_asset() -> None:
    """A gate that does not block, or looks at all projects at once, is none; it says its rules in both languages."""
    graph = defs.get_repository_def().asset_graph
    found = {}
    for key in graph.asset_check_keys:
        node = graph.get(key)
        assert node.blocking
        assert node.partitions_def is not None
        assert node.description == GATE_RULES[key.name].description
        found[key.asset_key.to_user_string()] = key.name
    assert found == GATES


def test_every_stage_has_its_job_with_its_assets_and_gates() -> None:
    """One job a stage, in process: the names are what the reconciler launches."""
    for rule in STAGE_RULES.values():
        job = defs.resolve_job_def(rule.job)
        assert {key.to_user_string() for key in job.asset_layer.selected_asset_keys} == set(rule.assets)
        assert {key.name for key in job.asset_layer.asset_graph.asset_check_keys} == {
            GATES[name] for name in rule.assets if name in GATES
        }
        assert job.executor_def.name == "in_process"


@pytest.mark.parametrize("name", sorted(SPECS.keys() - EXTERNAL - REPORTS))
def test_every_asset_shows_its_retry_policy(name: str) -> None:
    """Operators see in the UI that rounds are retried; the ledger decides how often."""
    policy = defs.get_repository_def().assets_defs_by_key[SPECS[name].key].op.retry_policy
    assert policy is not None
    assert policy.max_retries >= 10
