"""Voices of a project's speakers, remembered."""

from collections.abc import Mapping

from comic_pipeline.store import projects, voice_cast
from comic_pipeline.store.database import Database
from comic_pipeline_tests.builders import NOW, a_project


def test_voices_are_remembered_by_project_and_provider(database: Database) -> None:
    """What is chosen is what the next choice starts from; another project and another provider start from nothing."""
    seen: list[dict[str, str]] = []

    def choose(project: str, provider: str, **voices: str) -> dict[str, str]:
        def decide(kept: Mapping[str, str]) -> dict[str, str]:
            seen.append(dict(kept))
            return voices

        with database.write() as connection:
            return voice_cast.settle(connection, project, provider, decide, now=NOW)

    with database.write() as connection:
        projects.insert(connection, a_project())
        projects.insert(connection, a_project("p2"))
    assert choose("p1", "offline_voice", a="f1", b="m1") == {"a": "f1", "b": "m1"}
    choose("p1", "offline_voice", a="f2", c="m3")
    choose("p2", "offline_voice", a="f5")
    choose("p1", "openai_voice", a="nova")
    with database.read() as connection:
        assert voice_cast.load(connection, "p1", "offline_voice") == {"a": "f2", "b": "m1", "c": "m3"}
        assert voice_cast.load(connection, "p1", "openai_voice") == {"a": "nova"}
    assert seen == [{}, {"a": "f1", "b": "m1"}, {}, {}]
