"""A changed meaning has a new code version, and an unchanged one has not: what "stale" in the UI rests on."""

import ast

import pytest

from comic_pipeline.defs.versions import code_version
from comic_pipeline.model.workflow import STAGE_OF_ASSET
from comic_pipeline_tests.defs.code_versions import HOW, MADE_BY, MAKES_NOTHING, ROOT, current, hash_of_code, recorded

NOW, RECORDED = current(), recorded()
CODE = 'def f(x: int) -> str:\n    """Words."""\n    # why\n    return f"{x + 1}!"\n'


@pytest.mark.parametrize("asset", sorted(MADE_BY))
def test_the_code_of_an_asset_is_the_recorded_one(asset: str) -> None:
    """Whoever changes it decides in the same change: a new version, or the same by intent."""
    then = RECORDED.get(asset, {"code_version": None, "made_by": {}})
    changed = [name for name, code in NOW[asset]["made_by"].items() if then["made_by"].get(name) != code]
    assert NOW[asset] == then, HOW.format(asset=asset, modules=", ".join(changed) or "another version or list of modules")


def test_every_asset_and_every_stage_module_is_on_the_list() -> None:
    """A new asset, or a new module of `stages`, would be forgotten in silence otherwise."""
    assert MADE_BY.keys() == RECORDED.keys() == {*STAGE_OF_ASSET, "daily_production"}
    listed = {
        module.removeprefix("stages.") for modules in MADE_BY.values() for module in modules if module.startswith("stages.")
    }
    there = {path.stem for path in (ROOT / "comic_pipeline" / "stages").glob("*.py") if path.stem != "__init__"}
    assert listed | MAKES_NOTHING == there
    assert not listed & MAKES_NOTHING


def test_assets_are_made_by_what_their_modules_import() -> None:
    """The functions that the bodies call are in modules on the list."""
    for path in (ROOT / "comic_pipeline" / "defs" / "assets").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("comic_pipeline.stages."):
                module = (node.module or "").removeprefix("comic_pipeline.stages.")
                assert module in MAKES_NOTHING or any(f"stages.{module}" in modules for modules in MADE_BY.values())


@pytest.mark.parametrize(
    ("text", "same"),
    [
        (CODE.replace("# why", "# because"), True),
        (CODE.replace("Words.", "Other words."), True),
        (CODE.replace("(x: int)", "(\n    x: int,\n)"), True),
        (CODE.replace("x + 1", "x + 2"), False),
        (CODE.replace("}!", "}?"), False),
        (CODE.replace("def f", "async def f"), False),
    ],
    ids=["comment", "docstring", "layout", "number", "text", "async"],
)
def test_only_what_the_code_says_counts(text: str, *, same: bool) -> None:
    """A comment must not ask anybody for a decision; a number must."""
    assert (hash_of_code(text) == hash_of_code(CODE)) is same


def test_a_prompt_is_part_of_the_version_of_what_is_written_from_it() -> None:
    """Other templates, another version, with the number in front; without templates it is the number."""
    told = code_version(3, "storyboard_system", "storyboard_user")
    assert told.startswith("3.")
    assert told != code_version(3, "storyboard_system", "storyboard_repair")
    assert code_version(3) == "3"
    assert NOW["storyboard"]["code_version"] == code_version(1, "storyboard_system", "storyboard_user", "storyboard_repair")
