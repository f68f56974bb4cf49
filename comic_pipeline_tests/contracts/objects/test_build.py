"""Which store the settings open, and the forms of links."""

from pathlib import Path

import pytest

from comic_pipeline.model.errors import Refused
from comic_pipeline.objects.build import open_objects
from comic_pipeline.objects.folder import FolderStore
from comic_pipeline.objects.s3 import S3Store
from comic_pipeline.objects.store import link
from comic_pipeline.settings import load_settings
from comic_pipeline_tests.s3 import S3Server


def test_by_default_objects_lie_below_the_home(tmp_path: Path) -> None:
    """Where the webserver serves them, and nowhere near the database."""
    store = open_objects(load_settings(home=tmp_path, objects="", media_url="/logs/objects"))

    store.put("p/a.png", b"x", mime="image/png")

    assert isinstance(store, FolderStore)
    assert (tmp_path / "files" / "objects" / "p" / "a.png").read_bytes() == b"x"


def test_an_s3_address_opens_s3(s3_variables: S3Server, tmp_path: Path) -> None:
    """With the endpoint of AWS_ENDPOINT_URL_S3."""
    address = f"s3://{s3_variables.make_bucket()}/films"
    store = open_objects(load_settings(home=tmp_path, objects=address, s3_endpoint=s3_variables.endpoint))

    store.put("p/a.png", b"x", mime="image/png")

    assert isinstance(store, S3Store)
    assert store.get("p/a.png") == b"x"


def test_other_kinds_of_address_are_refused(tmp_path: Path) -> None:
    """They would otherwise become a folder of that odd name."""
    with pytest.raises(Refused, match="gs://"):
        open_objects(load_settings(home=tmp_path, objects="gs://bucket/films"))


@pytest.mark.parametrize(
    ("base", "key", "expected"),
    [
        ("/logs/objects", "projects/p/frames/0-abc.png", "/logs/objects/projects/p/frames/0-abc/png"),
        ("/logs/objects/", "a.b/c.d.mp4", "/logs/objects/a.b/c.d/mp4"),
        ("/comic/logs/objects", "p/a.srt", "/comic/logs/objects/p/a/srt"),
        ("/media", "p/a.png", "/media/p/a.png"),
        ("https://media.example.com/logs/x", "p/a.png", "https://media.example.com/logs/x/p/a.png"),
        ("https://media.example.com", "p/storyboard", "https://media.example.com/p/storyboard"),
        ("https://media.example.com", "p/a=b.png", "https://media.example.com/p/a%3Db.png"),
    ],
)
def test_links(base: str, key: str, expected: str) -> None:
    """Below the webserver's log route the ending is a part of its own; below any other base the key is appended."""
    assert link(base, key) == expected


@pytest.mark.parametrize("key", ["p/storyboard", "a.b/c", "p/a."])
def test_a_key_without_ending_has_no_link_in_the_webserver(key: str) -> None:
    """A dead link would look like a lost picture."""
    with pytest.raises(Refused, match="ending"):
        link("/logs/objects", key)
