"""The client's documents against the schema of the installed dagster-graphql, and its words against the launchpad's."""

from typing import Any, get_args, get_type_hints

import pytest
from dagster_graphql.schema import create_schema
from graphql import FieldNode, GraphQLSchema, OperationDefinitionNode, parse, validate

from comic_pipeline.client import Backend, Film
from comic_pipeline.client import documents as pinned
from comic_pipeline.client.backend import OPS
from comic_pipeline.defs.operations import OPERATOR_JOBS, CancelConfig, RedoConfig, RetryConfig, ReviewConfig, SubmitConfig


@pytest.fixture(scope="module")
def schema() -> GraphQLSchema:
    """What the webserver answers by."""
    served = create_schema().graphql_schema
    assert isinstance(served, GraphQLSchema)
    return served


def test_all_lists_every_document() -> None:
    """A document that is not listed would not be validated."""
    written = {
        name: value for name, value in vars(pinned).items() if isinstance(value, str) and name.isupper() and name[0] != "_"
    }
    assert written == pinned.ALL


@pytest.mark.parametrize("name", sorted(pinned.ALL))
def test_every_document_is_valid_in_the_installed_schema(schema: GraphQLSchema, name: str) -> None:
    """An upgrade of Dagster that renames a field fails here, not at a customer's."""
    assert validate(schema, parse(pinned.ALL[name])) == []


@pytest.mark.parametrize("gone", ["runId", "launchRun", "RunConfigValidationInvalid", "ExecutionParams"])
def test_a_renamed_field_type_or_argument_is_found(schema: GraphQLSchema, gone: str) -> None:
    """The validation above can fail."""
    assert validate(schema, parse(pinned.LAUNCH.replace(gone, f"{gone}Old")))


@pytest.mark.parametrize("name", sorted(pinned.ALL))
def test_every_document_has_one_root_field_that_tells_errors_from_data(name: str) -> None:
    """The wire takes the one value apart by its type: a document without `__typename` could not say that it failed."""
    (operation,) = parse(pinned.ALL[name]).definitions
    assert isinstance(operation, OperationDefinitionNode)
    (root,) = operation.selection_set.selections
    assert isinstance(root, FieldNode)
    assert root.selection_set is not None
    assert "__typename" in {field.name.value for field in root.selection_set.selections if isinstance(field, FieldNode)}


def test_the_client_names_every_operator_job_and_its_op() -> None:
    """The run config goes by the op's name."""
    assert {job.name: [node.name for node in job.nodes] for job in OPERATOR_JOBS} == {job: [op] for job, op in OPS.items()}


CALLS = [("retry", RetryConfig), ("redo", RedoConfig), ("cancel", CancelConfig), ("review", ReviewConfig)]


@pytest.mark.parametrize(("call", "config"), CALLS, ids=[call for call, _ in CALLS])
def test_every_call_takes_what_its_job_takes(call: str, config: type[Any]) -> None:
    """A field that a job has and the client does not is one that backends cannot use."""
    hints = get_type_hints(getattr(Backend, call)).keys() - {"return"}
    assert hints == config.model_fields.keys()


def test_a_film_takes_what_the_launchpad_takes() -> None:
    """The same fields with the same defaults, enums by their names."""
    defaults = {name: getattr(field.default, "name", field.default) for name, field in SubmitConfig.model_fields.items()}
    film = Film().model_dump()
    assert film == {name: defaults[name] for name in film}
    assert set(defaults) - set(film) == {"user", "tier", "key"}


@pytest.mark.parametrize(
    ("words", "config", "field"),
    [
        (Film.model_fields["duration"].annotation, SubmitConfig, "duration"),
        (Film.model_fields["aspect"].annotation, SubmitConfig, "aspect"),
        (Film.model_fields["resolution"].annotation, SubmitConfig, "resolution"),
        (get_type_hints(Backend.submit)["tier"], SubmitConfig, "tier"),
        (get_type_hints(Backend.review)["decision"], ReviewConfig, "decision"),
        (get_type_hints(Backend.redo)["stage"], RedoConfig, "stage"),
    ],
    ids=["duration", "aspect", "resolution", "tier", "decision", "stage"],
)
def test_the_words_of_a_choice_are_those_of_its_job(words: Any, config: type[Any], field: str) -> None:
    """Dagster takes enums by member name: a word that only the client knows is refused at the door."""
    assert set(get_args(words)) == set(config.model_fields[field].annotation.__members__)
