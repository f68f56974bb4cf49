"""Which code decides what each asset is, and the record of it.

`python -m comic_pipeline_tests.defs.code_versions` writes the record anew.

The record (`code_versions.json`) holds, for each asset, its code version and a hash of each module below. A hash is of what the
code says, not of how it is written: comments, docstrings and layout do not count. Code that plans, measures, or carries things
about is not listed: it does not change what is made.
"""

import ast
import hashlib
import json
from pathlib import Path
from typing import Any

from comic_pipeline.definitions import defs

ROOT = Path(__file__).resolve().parents[2]
RECORD = Path(__file__).with_name("code_versions.json")
HOW = """
{asset}: the code behind it is not the recorded one ({modules}).
 * What it makes has changed its meaning: raise its number, code_version(N …), in comic_pipeline/defs/assets/.
 * It makes the same as before: leave the number.
In both cases record it: python -m comic_pipeline_tests.defs.code_versions
"""
_FILM = ("stages.film", "media.film", "media.film_graph", "media.film_plan", "media.mix", "media.subtitles", "media.label")
MADE_BY: dict[str, tuple[str, ...]] = {
    "storyboard": ("stages.story", "model.storyboard", "model.cast"),
    "frame_images": ("stages.pictures", "stages.labelling", "media.label"),
    "voice_lines": ("stages.sound", "model.voices"),
    "clips": ("stages.motion",),
    "subtitles": ("stages.film", "media.subtitles", "media.typeset"),
    "music": ("stages.music",),
    "final_video": (*_FILM, "stages.manifest", "model.manifest", "model.timeline", "media.aigc"),
    "cover_image": ("stages.film", "media.image", "media.typeset", "media.label"),
    "timeline_export": ("stages.export", "media.interchange", "media.bundle", "media.stems"),
    "review_page": ("stages.review_page", "stages.manifest", "model.manifest", "pages.review", "media.previews"),
    "published_video": ("stages.release",),
    "daily_production": ("daily_report", "model.production", "store.production", "objects.parquet", "media.chart"),
}
# Of `stages`: plumbing, prices, measuring and gates. They decide whether something is made, not what.
MAKES_NOTHING = frozenset({"estimating", "inspecting", "studio", "verifying", "workshop"})


def hash_of_module(name: str) -> str:
    """Twelve hex digits for what the module says."""
    text = (ROOT / "comic_pipeline" / f"{name.replace('.', '/')}.py").read_text(encoding="utf-8")
    return hash_of_code(text)


def hash_of_code(text: str) -> str:
    """Equal for code that differs in comments, docstrings and layout alone, on every supported Python."""
    return hashlib.sha256(json.dumps(_said(ast.parse(text))).encode()).hexdigest()[:12]


def _said(node: Any) -> Any:
    if isinstance(node, list):
        return [_said(one) for one in node if not _is_docstring(one)]
    if not isinstance(node, ast.AST):
        return repr(node)
    # Python 3.12 has more fields than 3.11; those are empty in code that both can read.
    return [type(node).__name__, *([name, _said(value)] for name, value in ast.iter_fields(node) if value not in (None, []))]


def _is_docstring(node: Any) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def current() -> dict[str, dict[str, Any]]:
    """The record as it should be now."""
    versions = {spec.key.to_user_string(): spec.code_version for spec in defs.resolve_all_asset_specs()}
    hashes = {name: hash_of_module(name) for name in {module for modules in MADE_BY.values() for module in modules}}
    return {
        asset: {"code_version": versions[asset], "made_by": {module: hashes[module] for module in sorted(modules)}}
        for asset, modules in sorted(MADE_BY.items())
    }


def recorded() -> dict[str, dict[str, Any]]:
    """The record as it lies beside this module."""
    document: dict[str, dict[str, Any]] = json.loads(RECORD.read_text(encoding="utf-8"))
    return document


if __name__ == "__main__":
    RECORD.write_text(json.dumps(current(), indent=1) + "\n", encoding="utf-8")
