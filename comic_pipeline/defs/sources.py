"""Group sources and group views: what lies outside the graph, so that lineage has both of its ends.

External assets: nothing here is ever run. Their keys are the same whatever the settings; what is chosen shows in their metadata.
"""

from urllib.parse import urlsplit

import dagster as dg

from comic_pipeline.defs.columns import described, schema_of
from comic_pipeline.defs.owners import DATA, OPERATIONS, PICTURES, SOUND, STORY
from comic_pipeline.quality import GATES
from comic_pipeline.settings import Settings
from comic_pipeline.store.catalog import PROJECT_COSTS, PROJECT_PROGRESS, PROVIDER_HEALTH, QC_RESULTS, SUBMISSIONS, ReaderTable

# What the assets name as their sources.
SUBMISSIONS_TABLE, TEXT_PROVIDER, IMAGE_PROVIDER = "submissions", "text_provider", "image_provider"
VOICE_PROVIDER, VIDEO_PROVIDER = "voice_provider", "video_provider"
_PAID = ("storyboard", "frame_images", "voice_lines", "clips", "music", "final_video")


def source_specs(settings: Settings) -> list[dg.AssetSpec]:
    """Where wishes and material come from: the submissions and the providers in use."""
    return [
        dg.AssetSpec(
            SUBMISSIONS_TABLE,
            description=f"Table of the comic database: {SUBMISSIONS.row}. The answer is written into the same row.",
            group_name="sources",
            owners=[OPERATIONS],
            kinds={"sql", "table"},
            tags={"comic/source": "table"},
            metadata=described(schema_of(SUBMISSIONS)),
        ),
        _provider(settings, TEXT_PROVIDER, "Writes the storyboards", owner=STORY),
        _provider(settings, IMAGE_PROVIDER, "Draws the picture of each shot", owner=PICTURES),
        _provider(settings, VOICE_PROVIDER, "Speaks the line of each shot", owner=SOUND),
        _provider(settings, VIDEO_PROVIDER, "Moves the picture of each shot; the dearest of them", owner=PICTURES),
    ]


def view_specs() -> list[dg.AssetSpec]:
    """What readers get: SQL views over the comic database, always as new as its tables."""
    return [
        _view(PROJECT_PROGRESS, SUBMISSIONS_TABLE, *_PAID),
        _view(PROJECT_COSTS, *_PAID),
        _view(PROVIDER_HEALTH, *_PAID),
        _view(QC_RESULTS, *GATES),
    ]


def _provider(settings: Settings, key: str, does: str, *, owner: str) -> dg.AssetSpec:
    craft = key.removesuffix("_provider")
    chosen = {
        TEXT_PROVIDER: settings.text_provider,
        IMAGE_PROVIDER: settings.image_provider,
        VOICE_PROVIDER: settings.voice_provider,
        VIDEO_PROVIDER: settings.video_provider,
    }[key].value
    variable = f"COMIC_{key.upper()}"
    return dg.AssetSpec(
        key,
        description=f"{does}. In use: {chosen}, by {variable}; called by the ledger's runner alone, every call accounted for.",
        group_name="sources",
        owners=[owner],
        kinds={"api", chosen},
        tags={"comic/source": "provider", "comic/craft": craft},
        metadata={
            "provider": f"{chosen}_{craft}",
            "model": _model(settings, chosen, craft),
            "host": _host(settings, chosen),
            "setting": variable,
        },
    )


def _model(settings: Settings, chosen: str, craft: str) -> str:
    models = {
        ("ark", "text"): settings.ark_text_model,
        ("ark", "image"): settings.ark_image_model,
        ("ark", "video"): settings.ark_video_model,
        ("openai", "text"): settings.openai_text_model,
        ("openai", "image"): settings.openai_image_model,
        ("openai", "voice"): settings.openai_voice_model,
        ("openspeech", "voice"): settings.openspeech_resource,
    }
    return models.get((chosen, craft), "built in")


def _host(settings: Settings, chosen: str) -> str:
    # The host alone: a base URL may carry a key.
    bases = {"ark": settings.ark_base_url, "openai": settings.openai_base_url, "openspeech": settings.openspeech_base_url}
    return urlsplit(bases[chosen]).hostname or "" if chosen in bases else "this machine"


def _view(table: ReaderTable, *sources: str) -> dg.AssetSpec:
    return dg.AssetSpec(
        table.name,
        deps=sources,
        description=f"SQL view of the comic database; a row is {table.row}. Read only, always as new as the tables.",
        group_name="views",
        owners=[DATA],
        kinds={"sql", "view"},
        tags={"comic/source": "view"},
        metadata=described(schema_of(table)),
    )
