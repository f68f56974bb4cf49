"""The proxy of docker/ as a process, with stand-ins behind it that say who was reached: who gets where, and what is refused."""

import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from comic_pipeline_tests.compose import BIN, DOCKER
from comic_pipeline_tests.deployment import wait_for
from comic_pipeline_tests.ports import free_port, listens

OPERATOR, READER, NOBODY = ("olga", "operator-password"), ("rita", "reader-password"), None
Person = tuple[str, str] | None
MUTATION = {"query": 'mutation { terminateRun(runId: "x") { __typename } }'}
JSON = {"Content-Type": "application/json"}


class _Service(ThreadingHTTPServer):
    """A service behind the proxy that knows its name."""

    def __init__(self, name: str) -> None:
        super().__init__(("127.0.0.1", 0), _Behind)
        self.name = name


class _Behind(BaseHTTPRequestHandler):
    """Answers everything with the name of the service that was reached, the path, and the Host that it was asked for."""

    def _answer(self) -> None:
        assert isinstance(self.server, _Service)
        text = f"{self.server.name} {self.path} {self.headers['Host']}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = _answer  # noqa: N815 - the library's names

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        """Say nothing."""


@contextmanager
def _service(name: str) -> Iterator[int]:
    server = _Service(name)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass(frozen=True)
class Proxy:
    """The running proxy and the two sites that it serves."""

    site: str
    media_site: str

    def ask(self, person: Person, path: str, *, method: str = "GET", media: bool = False, **request: Any) -> httpx.Response:
        """One request by a person; the path is sent as it is written."""
        base = self.media_site if media else self.site
        with httpx.Client(trust_env=False, auth=person, timeout=20) as client:
            return client.request(method, base + path, **request)


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    """Caddy with docker/Caddyfile; one operator, one reader."""
    folder = tmp_path_factory.mktemp("proxy")
    ports = [free_port() for _ in range(3)]
    running = Proxy(f"http://localhost:{ports[0]}", f"http://localhost:{ports[1]}")
    with ExitStack() as until_done:
        behind = {
            f"COMIC_{name.upper()}": f"127.0.0.1:{until_done.enter_context(_service(name))}"
            for name in ("webserver", "reader", "media", "s3")
        }
        for file, (name, password) in {"operators": OPERATOR, "readers": READER}.items():
            hashed = subprocess.run(
                [str(BIN / "caddy"), "hash-password", "--algorithm", "argon2id", "--plaintext", password],
                capture_output=True,
                text=True,
                check=True,
            )
            (folder / file).write_text(f"{name} {hashed.stdout.strip()}\n")
        rules = folder / "Caddyfile"
        rules.write_text((DOCKER / "Caddyfile").read_text().replace(":8082 {", f":{ports[2]} {{"))
        environment = {
            "HOME": str(folder),
            "COMIC_SECRETS": str(folder),
            "COMIC_SITE": running.site,
            "COMIC_MEDIA_SITE": running.media_site,
        }
        log = until_done.enter_context((folder / "log").open("wb"))
        process = subprocess.Popen(
            [str(BIN / "caddy"), "run", "--config", str(rules), "--adapter", "caddyfile"],
            env={**environment, **behind},
            stdout=log,
            stderr=log,
        )
        until_done.callback(process.wait, timeout=10)
        until_done.callback(process.kill)
        wait_for("the proxy listening", lambda: listens(ports[0]) or _failed(process, folder), seconds=30)
        assert httpx.get(f"http://127.0.0.1:{ports[2]}/healthz", trust_env=False).text == "ok"
        yield running


def _failed(process: subprocess.Popen[bytes], folder: Path) -> bool:
    assert process.poll() is None, (folder / "log").read_text()
    return False


@pytest.mark.parametrize(
    ("person", "path", "status", "reached"),
    [
        (NOBODY, "/", 401, ""),
        (NOBODY, "/data", 401, ""),
        (NOBODY, "/data/assets", 401, ""),
        (NOBODY, "/media/projects/p/a.png", 401, ""),
        (NOBODY, "/logs/objects/x", 401, ""),
        (NOBODY, "/server_info", 401, ""),
        (READER, "/", 401, ""),
        (READER, "/logs/objects/x", 401, ""),
        (READER, "/download_debug/run", 401, ""),
        (READER, "/database", 401, ""),
        (READER, "/data/../logs/x", 401, ""),
        (READER, "/data/%2e%2e/logs/x", 401, ""),
        (READER, "/data", 200, "reader /data "),
        (READER, "/data/assets", 200, "reader /data/assets "),
        (READER, "/media/projects/p/a.png", 200, "media /media/projects/p/a.png "),
        (OPERATOR, "/", 200, "webserver / "),
        (OPERATOR, "/logs/objects/x", 200, "webserver /logs/objects/x "),
        (OPERATOR, "/data/assets", 200, "reader /data/assets "),
        (OPERATOR, "/media/projects/p/a.png", 200, "media "),
        (("olga", "reader-password"), "/", 401, ""),
    ],
)
def test_who_gets_where(proxy: Proxy, person: Person, path: str, status: int, reached: str) -> None:
    """The table at the head of the Caddyfile."""
    answer = proxy.ask(person, path)
    assert answer.status_code == status
    assert answer.text.startswith(reached)
    if status != 200:
        assert not any(name in answer.text for name in ("webserver", "reader", "media "))


@pytest.mark.parametrize("prefix", ["", "/data"])
@pytest.mark.parametrize(
    ("method", "path", "request_"),
    [
        ("GET", "/graphql", {"params": MUTATION}),
        ("GET", "/graphql", {"params": MUTATION, "headers": {"Accept": "application/json", **JSON}}),
        ("HEAD", "/graphql", {"params": MUTATION}),
        ("GET", "/graphql/", {"params": MUTATION}),
        ("GET", "//graphql", {"params": MUTATION}),
        ("GET", "/%67raphql", {"params": MUTATION}),
        ("GET", "/GraphQL", {"params": MUTATION}),
        ("GET", "/graphql", {"params": MUTATION, "headers": {"Upgrade": "websocket"}}),
        # What a form or a script of another site may send without asking first.
        ("POST", "/graphql", {"params": MUTATION}),
        ("POST", "/graphql", {"params": MUTATION, "headers": {"Content-Type": "text/plain"}}),
        ("POST", "/graphql", {"json": MUTATION, "headers": {"Content-Type": "text/plain;application/json"}}),
        ("POST", "/graphql", {"content": "mutation { x }", "headers": {"Content-Type": "application/graphql"}}),
        ("PUT", "/graphql", {"json": MUTATION}),
    ],
)
def test_graphql_is_spoken_by_json_posts_alone(
    proxy: Proxy, prefix: str, method: str, path: str, request_: dict[str, Any]
) -> None:
    """Dagster's webserver runs a mutation that a link, a picture or a form of another site carries; here it never arrives."""
    answer = proxy.ask(OPERATOR, prefix + path, method=method, **request_)
    assert answer.status_code == 405
    assert "webserver" not in answer.text


@pytest.mark.parametrize("headers", [{}, {"Content-Type": "application/json; charset=utf-8"}])
def test_the_ui_and_the_backend_get_through(proxy: Proxy, headers: dict[str, str]) -> None:
    """The UI names its operation in the address; a backend sends no Origin, a browser sends this site's."""
    for origin in ({}, {"Origin": proxy.site}):
        answer = proxy.ask(
            OPERATOR, "/graphql?op=Runs", method="POST", json={"query": "{version}"}, headers={**headers, **origin}
        )
        assert (answer.status_code, answer.text.split(" ")[0]) == (200, "webserver")


@pytest.mark.parametrize(
    "path",
    [
        "/report_asset_materialization/storyboard",
        "/data/report_asset_check/x",
        "//report_asset_observation/x",
        "/%72eport_asset_check/x",
        "/REPORT_asset_check/x",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_nothing_is_written_past_the_jobs(proxy: Proxy, path: str, method: str) -> None:
    """An operator's own browser, too: a forged verdict would open a gate."""
    assert proxy.ask(OPERATOR, path, method=method, json={}).status_code == 403


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost:1", "http://localhost"])
@pytest.mark.parametrize(
    ("method", "headers"),
    [
        ("POST", JSON),
        (
            "GET",
            {
                "Connection": "Upgrade",
                "Upgrade": "websocket",
                "Sec-WebSocket-Version": "13",
                "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
            },
        ),
    ],
)
def test_pages_of_others_are_refused(proxy: Proxy, origin: str, method: str, headers: dict[str, str]) -> None:
    """A browser sends the password that it remembers with every request to this site, whoever asked for it."""
    answer = proxy.ask(OPERATOR, "/graphql", method=method, headers={**headers, "Origin": origin})
    assert (answer.status_code, "webserver" in answer.text) == (403, False)


def test_the_uis_websocket_gets_through(proxy: Proxy) -> None:
    """Live updates come by it."""
    headers = {"Connection": "keep-alive, Upgrade", "Upgrade": "websocket", "Origin": proxy.site}
    assert proxy.ask(OPERATOR, "/graphql", headers=headers).text.startswith("webserver /graphql ")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/comic/projects/p/a.png?X-Amz-Signature=1", 200),
        ("HEAD", "/comic/projects/p/a.png?X-Amz-Signature=1", 200),
        ("GET", "/comic/projects/p/a.png", 404),
        ("GET", "/", 404),
        ("PUT", "/comic/projects/p/a.png?X-Amz-Signature=1", 404),
        ("DELETE", "/comic/projects/p/a.png?X-Amz-Signature=1", 404),
        ("POST", "/comic?X-Amz-Signature=1", 404),
    ],
)
def test_the_media_site_passes_signed_reads_alone(proxy: Proxy, method: str, path: str, status: int) -> None:
    """S3 checks the signature, which covers the name that it was asked for; what it serves is not allowed to run anything."""
    answer = proxy.ask(NOBODY, path, method=method, media=True)
    assert answer.status_code == status
    if status == 200 and method == "GET":
        assert answer.text == f"s3 {path} {proxy.media_site.removeprefix('http://')}"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Content-Security-Policy"].startswith("sandbox ")


def test_a_page_of_the_ui_may_not_be_framed(proxy: Proxy) -> None:
    """A click on another site must not be a click on Terminate."""
    assert proxy.ask(OPERATOR, "/").headers["X-Frame-Options"] == "DENY"
