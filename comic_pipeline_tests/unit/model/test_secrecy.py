"""Secrets out of text: whole, the longest first, and no placeholder."""

import pytest

from comic_pipeline.model.secrecy import conceal


@pytest.mark.parametrize(
    ("text", "secrets", "shown"),
    [
        ("the key sk-4711 is bad", ("sk-4711",), "the key *** is bad"),
        ("sk-4711-live", ("sk-4711", "sk-4711-live"), "***"),
        ("key=p%40ss&again=p@ss", ("p%40ss", "p@ss"), "key=***&again=***"),
        ("task_retrying", ("k", "", "try"), "task_retrying"),
        ("nothing to hide", (), "nothing to hide"),
    ],
)
def test_what_is_hidden(text: str, secrets: tuple[str, ...], shown: str) -> None:
    """A local server's key "k" would turn every "task" into "tas***"; a secret inside a longer one would leave its rest."""
    assert conceal(text, secrets=secrets) == shown
