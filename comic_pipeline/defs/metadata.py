"""What the UI shows beside each materialization: counts, cost, time, provider, a table of the shots, pictures, links."""

import json
from collections.abc import Iterable
from typing import Any

import dagster as dg
from pydantic import BaseModel

from comic_pipeline.model.media import MediaRef, Production
from comic_pipeline.model.money import ZERO
from comic_pipeline.model.task import hash_of
from comic_pipeline.model.workflow import STAGE_OF_ASSET
from comic_pipeline.objects.store import ObjectStore

Metadata = dict[str, dg.MetadataValue[Any]]
Row = dict[str, str | int | float | bool | None]

# How one piece came about differs between runs of equal content; it must not make downstream assets stale.
_VOLATILE = ("made",)


def data_version(document: BaseModel) -> dg.DataVersion:
    """Equal for equal content, whoever made it and when. A field that a later version of the code adds changes nothing."""
    return dg.DataVersion(hash_of(_stable(json.loads(document.model_dump_json(exclude_defaults=True))))[:32])


def code_versions(context: dg.AssetExecutionContext) -> dict[str, str]:
    """The code version of every asset that a stage makes, for the manifest; sources, views and reports have no part in a film."""
    graph = context.job_def.asset_layer.asset_graph
    made = (key for key in graph.get_all_asset_keys() if key.to_user_string() in STAGE_OF_ASSET)
    return {key.to_user_string(): graph.get(key).code_version or "" for key in made}


def production_metadata(made: Iterable[Production]) -> Metadata:
    """Cost, providers, models and how many pieces were there already."""
    pieces = list(made)
    return {
        "pieces": dg.MetadataValue.int(len(pieces)),
        "reused": dg.MetadataValue.int(sum(piece.reused for piece in pieces)),
        "cost_cny": dg.MetadataValue.float(float(sum((piece.cost for piece in pieces), ZERO))),
        "work_seconds": dg.MetadataValue.float(round(sum((piece.seconds for piece in pieces), 0.0), 3)),
        "provider": dg.MetadataValue.text(", ".join(sorted({piece.provider for piece in pieces})) or "none"),
        "model": dg.MetadataValue.text(", ".join(sorted({piece.model for piece in pieces})) or "none"),
        "prompt_hash": dg.MetadataValue.text(", ".join(sorted({piece.template_hash for piece in pieces} - {""})) or "none"),
    }


def picture(objects: ObjectStore, media: MediaRef) -> dg.MarkdownMetadataValue:
    """A stored picture, inline: the UI shows markdown pictures with an http or relative URL, below 1,000 characters."""
    return dg.MetadataValue.md(f"![]({objects.url(media.key)})")


def link(objects: ObjectStore, media: MediaRef) -> dg.MarkdownMetadataValue:
    """A stored file as a link."""
    return dg.MetadataValue.md(f"[{media.key.rsplit('/', 1)[-1]}]({objects.url(media.key)})")


def shot_links(objects: ObjectStore, media: Iterable[tuple[int, MediaRef]]) -> dg.MarkdownMetadataValue:
    """One link a shot, named by its number. Above 1,000 characters the UI shows it on a click."""
    links = (f"[{seq}]({objects.url(one.key)})" for seq, one in media)
    return dg.MetadataValue.md(" ".join(links) or "none")


def shot_table(rows: Iterable[Row], columns: dg.TableSchema | None = None) -> dg.TableMetadataValue:
    """One row a shot, with what its columns mean where that is written down."""
    return dg.MetadataValue.table(records=[dg.TableRecord(row) for row in rows], schema=columns)


def _stable(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _stable(item) for key, item in value.items() if key not in _VOLATILE}
    if isinstance(value, list):
        return [_stable(item) for item in value]
    return value
