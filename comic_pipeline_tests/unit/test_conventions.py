"""Rules of the code base that ruff, mypy and import-linter cannot hold: sizes, reasons, names of files, words of tests."""

import ast
import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = sorted((ROOT / "comic_pipeline").rglob("*.py"))
TESTS = sorted((ROOT / "comic_pipeline_tests").rglob("*.py"))
TREES = {file: ast.parse(file.read_text(encoding="utf-8")) for file in (*PRODUCT, *TESTS)}
# Lines. A migration is one list of columns, and never edited again; the tables are one list of tables.
FUNCTION_LINES, MODULE_LINES = 44, 300
LONGER = {"store/schema.py": "the tables, one after another"}
MIGRATIONS = ROOT / "comic_pipeline/store/migrations/versions"


def _functions(file: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(TREES[file]) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def _lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _name(file: Path) -> str:
    return str(file.relative_to(ROOT / "comic_pipeline"))


def test_functions_fit_on_a_screen() -> None:
    """What does not fit on one screen is not read whole by anybody."""
    files = [file for file in PRODUCT if file.parent != MIGRATIONS]
    assert [
        f"{_name(file)}: {node.name} {_lines(node)}"
        for file in files
        for node in _functions(file)
        if _lines(node) > FUNCTION_LINES
    ] == []


def test_modules_are_about_one_thing() -> None:
    """A module that grows past this has a seam; a name that is excused and has shrunk is excused no longer."""
    long = {_name(file) for file in PRODUCT if len(file.read_text(encoding="utf-8").splitlines()) > MODULE_LINES}
    assert long == LONGER.keys()


def test_every_exception_to_a_rule_has_its_reason() -> None:
    """`noqa` and `type: ignore` name the rule (ruff PGH) and, behind it, why it does not hold here."""
    bare = re.compile(r"#\s*(?:noqa:\s*[A-Z0-9, ]+|type:\s*ignore\[[a-z, -]+\])\s*$")
    found = [
        f"{_name(file)}:{number}"
        for file in PRODUCT
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1)
        if bare.search(line)
    ]
    assert found == []


def test_modules_and_documents_that_docstrings_name_exist() -> None:
    """A reader who is sent to a file that was moved, or to a document that is not in the repository, is lost."""
    others = ((ROOT / folder).iterdir() for folder in (".", "docs", "docker"))
    there = {file.name for file in chain(PRODUCT, TESTS, *others)}
    named = re.compile(r"[\w./-]+\.(?:py|md|yaml|toml|lock)\b")
    words = {file: "\n".join(_words_of(file)) for file in TREES}
    lost = [
        f"{file.relative_to(ROOT)} names {path}"
        for file, text in words.items()
        for path in map(_local, named.findall(text))
        if Path(path).name not in there
        or ("/" in path and not any((base / path).exists() for base in (ROOT, file.parent, ROOT / "comic_pipeline")))
    ]
    # Numbered sections of a page that lies elsewhere are as lost.
    elsewhere = re.compile(r"(?i)\bdesign (?:section|§)")
    lost += [f"{file.relative_to(ROOT)} names a design" for file, text in words.items() if elsewhere.search(text)]
    assert not lost, "\n".join(lost)


def _local(path: str) -> str:
    return path.removeprefix("./")


def _words_of(file: Path) -> Iterator[str]:
    for node in ast.walk(TREES[file]):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(node) or ""
    yield from re.findall(r"(?m)^\s*# (.*)$", file.read_text(encoding="utf-8"))


def test_every_test_says_what_it_shows() -> None:
    """A name is not enough: the behaviour, or the bug that it prevents, in words."""
    assert [
        f"{file.name}: {node.name}"
        for file in TESTS
        for node in _functions(file)
        if node.name.startswith("test_") and not ast.get_docstring(node)
    ] == []


def test_no_test_asserts_how_long_something_took() -> None:
    """A busy machine turns it red. What must not hang has a `timeout` mark; what must be fast is measured in `bench/`."""
    took = re.compile(r"assert .*\b(?:monotonic|perf_counter)\(\).* <")
    assert [
        f"{file.name}:{number}"
        for file in TESTS
        if file.name.startswith("test_")
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1)
        if took.search(line)
    ] == []


# Installed, and imported by no line of ours.
NOT_IMPORTED = {
    "dagster-aws": "docker/dagster.yaml names its log storage",
    "dagster-docker": "docker/dagster.docker.yaml names its launcher",
    "dagster-graphql": "the webserver's API",
    "dagster-webserver": "started by its command",
    "editables": "builds the editable install",
    "hatchling": "builds the editable install",
    "otio-cmx3600-adapter": "a plug-in of opentimelineio",
    "otio-fcpx-xml-adapter": "a plug-in of opentimelineio",
    "psycopg2-binary": "SQLAlchemy's driver",
}
# Imported, and there with a package that is declared.
COMES_WITH = {"botocore": "boto3", "mypy-boto3-s3": "boto3-stubs, for the type checker alone"}


def test_what_is_installed_is_what_is_imported() -> None:
    """A package that nothing uses is one more to trust; one that is only there by way of another may go with it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {re.split(r"[^\w-]", wanted)[0] for wanted in project["dependencies"]}
    homes = packages_distributions()
    imported = {_plain(home) for file in PRODUCT for name in _imports(file) for home in homes.get(name, ())}
    assert imported - {"comic-pipeline"} - COMES_WITH.keys() == declared - NOT_IMPORTED.keys()


def _plain(distribution: str) -> str:
    return re.sub(r"[-_.]+", "-", distribution).lower()


def _imports(file: Path) -> Iterator[str]:
    for node in ast.walk(TREES[file]):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]
