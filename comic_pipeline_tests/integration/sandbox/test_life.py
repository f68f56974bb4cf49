"""Time, URLs, books and the process itself."""

import base64
import hashlib
import itertools
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path

import httpx
import pytest

from comic_pipeline_tests.integration.sandbox.material import (
    IMAGE_MODEL,
    STORY,
    TASKS,
    TEXT_MODEL,
    first_frame,
    measure_film,
    picture_uri,
    task_body,
)
from comic_pipeline_tests.sandbox.faults import Fault, Kind, Route
from comic_pipeline_tests.sandbox.process import Sandbox, start_sandbox

DAY = 86_400


def image_url(http: httpx.Client) -> str:
    """The URL of a new picture."""
    body = {"model": IMAGE_MODEL, "prompt": "猫", "size": "2048x2048"}
    return str(http.post("/api/v3/images/generations", json=body).json()["data"][0]["url"])


def test_urls_are_signed_for_get_and_live_for_a_day(http: httpx.Client, sandbox: Sandbox) -> None:
    """HEAD, a changed signature and a foreign name are refused; after 24 virtual hours GET is, too."""
    url = image_url(http)
    assert "X-Tos-Expires=86400" in url
    assert http.head(url).status_code == 403
    assert http.get(url[:-1] + ("0" if url[-1] != "0" else "1")).status_code == 403
    assert http.get(url.replace("X-Tos-Expires=86400", "X-Tos-Expires=864000")).status_code == 403
    assert httpx.get(url).headers["content-type"] == "image/jpeg"
    sandbox.admin.advance(DAY - 60)
    assert http.get(url).status_code == 200
    sandbox.admin.advance(61)
    expired = http.get(url)
    assert (expired.status_code, "expired" in expired.text) == (403, True)


def test_records_live_for_seven_days_and_cancelled_ones_for_one(http: httpx.Client, sandbox: Sandbox) -> None:
    """GET does not renew a URL; a record is gone after 7 days, a cancelled one after 24 h."""
    sandbox.admin.latency(video=10)
    done, cancelled = (http.post(TASKS, json=task_body()).json()["id"] for _ in range(2))
    assert http.delete(f"{TASKS}/{cancelled}").json() == {}
    sandbox.admin.advance(20)
    sandbox.admin.advance(DAY)
    url = http.get(f"{TASKS}/{done}").json()["content"]["video_url"]
    assert http.get(url).status_code == 403
    assert http.get(f"{TASKS}/{cancelled}").status_code == 404
    sandbox.admin.advance(6 * DAY)
    assert http.get(f"{TASKS}/{done}").status_code == 404
    assert http.get(TASKS).json()["total"] == 0
    assert http.get(f"{TASKS}/cgt-20260101000000-aaaaa").json()["error"]["code"] == "ResourceNotFound"


def test_a_job_that_never_ends_expires(http: httpx.Client, sandbox: Sandbox) -> None:
    """execution_expires_after ends even a stuck job, at no cost; updated_at does not move while it runs."""
    sandbox.admin.faults.add(Route.VIDEO_CREATE, Fault(kind=Kind.STUCK))
    job = http.post(TASKS, json=task_body(execution_expires_after=3_600)).json()["id"]
    sandbox.admin.advance(60)
    early = http.get(f"{TASKS}/{job}").json()
    sandbox.admin.advance(3_000)
    late = http.get(f"{TASKS}/{job}").json()
    assert (early["status"], late["status"]) == ("running", "running")
    assert early["updated_at"] == late["updated_at"]
    sandbox.admin.advance(600)
    assert http.get(f"{TASKS}/{job}").json()["status"] == "expired"
    assert sandbox.admin.books().spend == 0


def test_own_urls_as_input_are_read_and_expired_ones_refused(http: httpx.Client, sandbox: Sandbox) -> None:
    """A first frame by URL is really used; a signed URL past its time is a 400, as when the vendor cannot fetch it."""
    url = image_url(http)
    body = task_body(content=[{"type": "text", "text": "猫"}, first_frame(url)], ratio="adaptive", resolution="480p")
    task = http.post(TASKS, json=body).json()["id"]
    sandbox.admin.advance(5)
    found = http.get(f"{TASKS}/{task}").json()
    assert found["ratio"] == "1:1"
    assert measure_film(http.get(found["content"]["video_url"]).content).width == 640
    sandbox.admin.advance(DAY)
    assert http.post(TASKS, json=body).json()["error"]["code"] == "InvalidParameter.TosURLInvalid"


def test_sound_in_films_only_when_asked(http: httpx.Client, sandbox: Sandbox) -> None:
    """generate_audio is true unless told otherwise, as at the vendor."""
    jobs = [http.post(TASKS, json=task_body(generate_audio=flag, resolution="480p")).json()["id"] for flag in (None, False)]
    sandbox.admin.advance(5)
    urls = [http.get(f"{TASKS}/{job}").json()["content"]["video_url"] for job in jobs]
    assert [measure_film(http.get(url).content).audio for url in urls] == [True, False]


@pytest.mark.parametrize(
    ("changes", "tokens", "cost"),
    [
        ({"duration": 5}, 108_900, "5.0094"),
        ({"duration": 5, "model": "doubao-seedance-2-0-fast-260128"}, 108_900, "4.0293"),
        ({"duration": 5, "resolution": "1080p"}, 245_025, "12.496275"),
        ({"duration": 30, "model": "doubao-seedance-2-5-260628", "ratio": None}, 1_296_900, "90.783"),
        ({"duration": 5, "model": "doubao-seedance-1-5-pro-251215"}, 108_900, "0.8712"),
        ({"duration": 5, "model": "doubao-seedance-1-5-pro-251215", "generate_audio": True}, 108_900, "1.7424"),
    ],
)
def test_tokens_and_prices(http: httpx.Client, sandbox: Sandbox, changes: dict[str, object], tokens: int, cost: str) -> None:
    """The vendor's own examples: 5 s at 720p are 108,900 tokens; 2.5 counts twice the frames."""
    job = http.post(TASKS, json=task_body(**changes)).json()["id"]
    assert sandbox.admin.books().spend == 0
    sandbox.admin.advance(5)
    assert http.get(f"{TASKS}/{job}").json()["usage"]["completion_tokens"] == tokens
    assert str(sandbox.admin.books().spend.normalize()) == cost
    (charge,) = sandbox.admin.charges()
    assert charge.cost is not None
    assert (charge.reference, str(charge.cost.normalize())) == (job, cost)


def test_unknown_prices_are_counted_not_guessed(http: httpx.Client, sandbox: Sandbox) -> None:
    """Seedance 1.0 has no price in our sources."""
    http.post(TASKS, json=task_body(model="doubao-seedance-1-0-pro-250528"))
    sandbox.admin.advance(5)
    report = sandbox.admin.books()
    assert (report.spend, report.unpriced) == (Decimal(0), 1)


def test_books_measure_limits(http: httpx.Client, sandbox: Sandbox) -> None:
    """Most jobs open at once, most requests at once, and the times of creates: what tests of limiters need."""
    sandbox.admin.latency(video=10, image=0.3)
    for _ in range(3):
        http.post(TASKS, json=task_body())
    sandbox.admin.advance(11)
    for _ in range(2):
        http.post(TASKS, json=task_body())
    sandbox.admin.advance(3)
    report = sandbox.admin.books()
    assert (report.max_open_videos, report.max_running_videos, report.jobs_by_status) == (3, 3, {"succeeded": 3, "running": 2})
    assert len(report.arrivals["video_create"]) == 5
    assert report.arrivals["video_create"] == sorted(report.arrivals["video_create"])
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: image_url(http), range(4)))
    assert sandbox.admin.books().max_parallel_requests["image"] == 4


def test_books_tell_projects_apart_and_name_the_frame(http: httpx.Client, sandbox: Sandbox) -> None:
    """Creates by safety_identifier; the first frame is recorded by its hash, so a test can see which picture was sent."""
    uri = picture_uri(400, 400)
    for project in ("a", "b", "a"):
        content = [{"type": "text", "text": "猫"}, first_frame(uri)]
        http.post(TASKS, json=task_body(safety_identifier=project, content=content))
    assert sandbox.admin.books().creates_by_key["video_create"] == {"a": 2, "b": 1}
    recorded = sandbox.admin.requests(Route.VIDEO_CREATE)[0].body["content"][1]["image_url"]["url"]
    digest = hashlib.sha256(base64.b64decode(uri.partition(",")[2])).hexdigest()[:12]
    assert recorded.startswith(f"data:image/jpeg;base64,{digest} (")


def test_latency_of_the_synchronous_crafts_is_real(http: httpx.Client, sandbox: Sandbox) -> None:
    """text=0.4 makes a chat take that long."""
    sandbox.admin.latency(text=0.4)
    answer = http.post("/api/v3/chat/completions", json={"model": TEXT_MODEL, "messages": STORY})
    assert answer.elapsed.total_seconds() >= 0.4


def test_books_on_disk_outlive_a_kill(tmp_path: Path) -> None:
    """Accepted creates are on disk before they are answered; a sandbox started anew in the same place knows no jobs."""
    books = tmp_path / "books.jsonl"
    sandbox = start_sandbox(books=books, latency={"video": 100})
    headers = {"Authorization": f"Bearer {sandbox.api_key}"}
    job = httpx.post(sandbox.url + TASKS, json=task_body(), headers=headers).json()["id"]
    sandbox.kill()
    events = [json.loads(line) for line in books.read_text().splitlines()]
    made = [event for event in events if event["event"] == "made"]
    assert [(event["route"], event["key"], event["reference"]) for event in made] == [("video_create", "project-1", job)]
    assert sandbox.api_key not in books.read_text()
    with start_sandbox(books=books, port=sandbox.port) as again:
        assert again.url == sandbox.url
        assert httpx.get(f"{again.url}{TASKS}/{job}", headers=headers).status_code == 404


def test_command_line_says_where_it_listens() -> None:
    """The first line is the promised one, and the process ends when told."""
    command = [sys.executable, "-m", "comic_pipeline_tests.sandbox", "--port", "0", "--latency", "video=60,image=3"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        url = line.strip().removeprefix("listening on ")
        assert httpx.get(f"{url}/_admin/books").json()["spend"] == "0"
        process.terminate()
        assert process.wait(timeout=10) is not None
    assert line.startswith("listening on http://127.0.0.1:")


def test_a_wrong_latency_is_refused_at_the_start() -> None:
    """An unknown craft is named."""
    command = [sys.executable, "-m", "comic_pipeline_tests.sandbox", "--port", "0", "--latency", "opera=1"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert "opera" in ended.stderr


def test_the_sandbox_is_an_independent_witness() -> None:
    """It must not import the product: shared code would share mistakes."""
    folder = Path(__file__).resolve().parents[2] / "sandbox"
    lines = itertools.chain.from_iterable(path.read_text().splitlines() for path in folder.glob("*.py"))
    assert not [
        line for line in lines if line.startswith(("import comic_pipeline.", "from comic_pipeline.", "from comic_pipeline "))
    ]
