"""Stable links to media against a real S3: what is redirected where, for how long, and what is not served at all."""

import asyncio
import time
from collections.abc import Iterator

import httpx
import pytest

from comic_pipeline.links import build_redirector
from comic_pipeline.model.errors import Refused
from comic_pipeline.objects.build import open_objects
from comic_pipeline.objects.store import ObjectStore
from comic_pipeline.settings import Settings, load_settings
from comic_pipeline_tests.ports import free_port
from comic_pipeline_tests.s3 import S3Server, running_rclone

KEY = "projects/p-1/frames/000-abc.png"
PICTURE = b"\x89PNG not really"
MEDIA_URL = "https://comic.example/media"


def settings_for(server: S3Server, **changes: str) -> Settings:
    """A deployment whose links go through the redirector."""
    given = {"AWS_ENDPOINT_URL_S3": server.endpoint, "COMIC_MEDIA_URL": MEDIA_URL, **changes}
    return load_settings(COMIC_OBJECTS=f"s3://{server.make_bucket()}/films", **given)


@pytest.fixture
def settings(s3_variables: S3Server) -> Settings:
    """An empty bucket."""
    return settings_for(s3_variables)


@pytest.fixture
def store(settings: Settings) -> ObjectStore:
    """A store with one picture in it, and with something that is nobody's business."""
    opened = open_objects(settings)
    opened.put(KEY, PICTURE, mime="image/png")
    opened.put("staging/t-1", b"{}", mime="application/octet-stream")
    return opened


def ask(settings: Settings, path: str, *, method: str = "GET", life: int = 60) -> httpx.Response:
    """One request to the redirector, as a browser sends it; redirects are not followed."""

    async def main() -> httpx.Response:
        transport = httpx.ASGITransport(app=build_redirector(settings, life=life))
        async with httpx.AsyncClient(transport=transport, base_url="https://comic.example") as browser:
            return await browser.request(method, path)

    return asyncio.run(main())


def test_the_link_in_the_ui_leads_to_the_picture(settings: Settings, store: ObjectStore) -> None:
    """The very link that the store gives to assets: one redirect, then S3 serves bytes and type to somebody without keys."""
    link = store.url(KEY)
    assert link == f"{MEDIA_URL}/{KEY}"

    redirect = ask(settings, link)

    assert redirect.status_code == 302
    assert redirect.headers["Cache-Control"] == "no-store"
    picture = httpx.get(redirect.headers["Location"], trust_env=False)
    assert (picture.status_code, picture.content, picture.headers["Content-Type"]) == (200, PICTURE, "image/png")


def test_a_link_works_long_after_the_first_redirect_has_expired(settings: Settings, store: ObjectStore) -> None:
    """What is stored in an event log for months is the stable link; the presigned URL behind it is dead after its life."""
    first = ask(settings, store.url(KEY), life=1).headers["Location"]
    deadline = time.monotonic() + 10
    while httpx.get(first, trust_env=False).status_code == 200 and time.monotonic() < deadline:
        time.sleep(0.2)
    assert httpx.get(first, trust_env=False).status_code == 403

    fresh = ask(settings, store.url(KEY), life=60).headers["Location"]

    assert httpx.get(fresh, trust_env=False).content == PICTURE


def test_head_is_redirected_to_a_url_for_head(settings: Settings, store: ObjectStore) -> None:
    """S3 signs the method too: players that ask for the length first would get 403 from a URL for GET."""
    redirect = ask(settings, store.url(KEY), method="HEAD")

    answer = httpx.head(redirect.headers["Location"], trust_env=False)
    assert (redirect.status_code, answer.status_code, answer.headers["Content-Length"]) == (302, 200, str(len(PICTURE)))


@pytest.mark.parametrize(
    "path",
    [
        "/media/projects/p-1/frames/001-abc.png",
        "/media/staging/t-1",
        "/media/projects/../staging/t-1",
        "/media/projects/%2e%2e/staging/t-1",
        "/media/projects/..%2fstaging/t-1",
        "/media/projects/%2fstaging",
        "/media/projects//p-1/frames/000-abc.png",
        "/media/projects/p-1%00/frames/000-abc.png",
        "/media/projects/" + "a" * 600,
        "/media//projects/p-1/frames/000-abc.png",
        "/media/",
        "/media",
        "/",
        "/projects/p-1/frames/000-abc.png",
        "/media/https://evil.example/",
    ],
)
def test_what_is_no_served_object_is_not_found(settings: Settings, store: ObjectStore, path: str) -> None:
    """Unknown keys, other parts of the bucket, and every way of writing a path around the check."""
    answer = ask(settings, path)

    assert answer.status_code == 404
    assert "Location" not in answer.headers


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_only_reading_is_served(settings: Settings, store: ObjectStore, method: str) -> None:
    """A link can be looked at, nothing else."""
    assert ask(settings, store.url(KEY), method=method).status_code == 405


def test_a_dead_store_is_not_a_missing_file(s3_variables: S3Server) -> None:
    """A browser is told to come again; 404 would be cached as a loss."""
    settings = settings_for(s3_variables, AWS_ENDPOINT_URL_S3=f"http://127.0.0.1:{free_port()}")

    answer = ask(settings, f"/media/{KEY}")

    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")


def test_browsers_are_sent_to_the_service_as_they_reach_it(
    s3_variables: S3Server, settings: Settings, store: ObjectStore
) -> None:
    """Inside, S3 has a name that only containers know; the signature covers the name, so it is made for the outer one."""
    outside = settings.model_copy(update={"media_endpoint": "https://media.example:8443"})

    location = ask(outside, store.url(KEY)).headers["Location"]

    assert location.startswith("https://media.example:8443/bucket-")
    assert f"/films/{KEY}?" in location
    assert "X-Amz-Expires=60" in location


def test_health_is_told_without_the_store(s3_variables: S3Server) -> None:
    """A store that is away is no reason to restart the redirector."""
    settings = settings_for(s3_variables, AWS_ENDPOINT_URL_S3=f"http://127.0.0.1:{free_port()}")
    assert ask(settings, "/healthz").status_code == 200


@pytest.mark.parametrize("changes", [{"COMIC_OBJECTS": "/srv/media"}, {"COMIC_MEDIA_URL": "/logs/objects"}])
def test_a_deployment_that_needs_no_redirector_is_refused(changes: dict[str, str]) -> None:
    """It would answer 404 to every link."""
    given = {"COMIC_OBJECTS": "s3://films", "COMIC_MEDIA_URL": "/media", **changes}
    with pytest.raises(Refused, match=next(iter(changes))):
        build_redirector(load_settings(**given))


@pytest.fixture
def rclone(
    tmp_path_factory: pytest.TempPathFactory, s3_variables: S3Server, monkeypatch: pytest.MonkeyPatch
) -> Iterator[S3Server]:
    """Another make of S3."""
    with running_rclone(tmp_path_factory.mktemp("rclone")) as server:
        for name, value in server.variables().items():
            monkeypatch.setenv(name, value)
        yield server


def test_another_make_of_s3_takes_the_signature_too(rclone: S3Server) -> None:
    """One service may be lenient where S3 itself is not."""
    settings = settings_for(rclone)
    open_objects(settings).put(KEY, PICTURE, mime="image/png")

    location = ask(settings, f"/media/{KEY}").headers["Location"]

    assert httpx.get(location, trust_env=False).content == PICTURE
    assert httpx.get(location.replace("000-abc", "001-abc"), trust_env=False).status_code == 403
