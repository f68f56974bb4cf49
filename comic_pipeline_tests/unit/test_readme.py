"""README.md against the disk, the settings and the commands: what it names must be there, and what is there must be named."""

import re
from pathlib import Path

import pytest
from pydantic import SecretStr
from typer.main import get_command

from comic_pipeline.cli import app
from comic_pipeline.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
# Code blocks and code spans: only there does a word mean a command or a path.
CODE = "\n".join(block or span for block, span in re.findall(r"```\w*\n(.*?)```|`([^`\n]+)`", README, re.DOTALL))


def _commands(group: object, before: str = "") -> set[str]:
    found: set[str] = set()
    for name, command in getattr(group, "commands", {}).items():
        found |= _commands(command, f"{before}{name} ") if hasattr(command, "commands") else {f"{before}{name}"}
    return found


def _written_default(value: object) -> str:
    written = str(value.get_secret_value() if isinstance(value, SecretStr) else value)
    return written.lower() if isinstance(value, bool) else written


def test_settings_table_names_every_variable_with_its_default() -> None:
    """A variable that the table forgets, or a default that has changed since, misleads whoever deploys."""
    rows = re.findall(r"^\| `([A-Z][A-Z0-9_]+)` \| (?:`([^`]*)`)? *\| (\S.*) \|$", README, re.MULTILINE)
    table = {variable: default for variable, default, _ in rows}
    assert table == {field.alias: _written_default(field.default) for field in Settings.model_fields.values()}


PATHS = sorted(
    set(re.findall(r"`((?:comic_pipeline|comic_pipeline_tests|docker|docs|\.ci)/[\w./-]*|[\w-]+\.(?:yaml|toml|lock))`", README))
    | set(re.findall(r"\]\((docs/[^)]+)\)", README))
)


@pytest.mark.parametrize("path", PATHS)
def test_every_path_exists(path: str) -> None:
    """A map that does not match the disk is worse than none."""
    assert (ROOT / path).exists()


def test_the_map_names_every_part_of_the_product() -> None:
    """A package that the map leaves out is one that nobody finds."""
    product = ROOT / "comic_pipeline"
    packages = {f"comic_pipeline/{file.parent.name}/" for file in product.glob("*/__init__.py")}
    modules = {f"comic_pipeline/{file.name}" for file in product.glob("*.py") if file.name != "__init__.py"}
    assert packages | modules <= set(re.findall(r"^- `([^`]+)` \S", README, re.MULTILINE))


def test_every_make_command_exists() -> None:
    """The first thing a stranger types must work."""
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = set(re.findall(r"\bmake ([a-z]+)", CODE))
    assert {"demo", "dev", "test"} <= named
    assert named <= targets


def test_commands_named_are_the_commands_there_are() -> None:
    """The table lists every command once; no text names one that is gone."""
    commands = _commands(get_command(app))
    assert set(re.findall(r"^\| `comic ([a-z ]+)` \|", README, re.MULTILINE)) == commands
    assert set(re.findall(r"(?<![\w/-])(?:\.venv/bin/)?comic ((?:task )?[a-z]+)", CODE)) <= commands
