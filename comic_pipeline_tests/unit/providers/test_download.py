"""Fetching results: allowed hosts, limits, and which failure is worth another GET."""

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest

from comic_pipeline.model.errors import ErrorCode, ProviderFault
from comic_pipeline.providers.download import FetchLimits
from comic_pipeline.providers.http import Wire
from comic_pipeline_tests.unit.providers.vendor import BASE, Vendor, run, service

URL = "https://bucket.tos-cn-beijing.volces.com/v.mp4?X-Tos-Signature=deadbeef"
LIMITS = FetchLimits(max_bytes=1_000, seconds=10.0)
LOOPBACK = "http://127.0.0.1:8080/api/v3"


def fetch(vendor: Vendor, url: str = URL, *, base: str = BASE, allowed: frozenset[str] = frozenset()) -> bytes:
    wire = Wire(service(base_url=base, allowed=allowed), create_seconds=60.0, transport=vendor.transport)
    return run(wire.fetch(url, limits=LIMITS))


def refused(vendor: Vendor, url: str = URL, *, base: str = BASE, allowed: frozenset[str] = frozenset()) -> ProviderFault:
    with pytest.raises(ProviderFault) as caught:
        fetch(vendor, url, base=base, allowed=allowed)
    assert "deadbeef" not in str(caught.value)
    return caught.value


def test_result_is_one_get_without_the_key() -> None:
    """HEAD fails at Ark, and a signed URL of another host must never see our key."""
    vendor = Vendor(httpx.Response(200, content=b"film"))
    assert fetch(vendor) == b"film"
    assert vendor.methods == ["GET"]
    assert "authorization" not in vendor.requests[0].headers


@pytest.mark.parametrize(
    ("url", "base", "allowed"),
    [
        ("https://ark-content.tos-ap-southeast.bytepluses.com/a", BASE, frozenset()),
        ("https://p3.byteimg.com/a", BASE, frozenset()),
        ("https://ark.cn-beijing.volces.com/files/a", BASE, frozenset()),
        ("https://relay.example/files/a", "https://relay.example/v1", frozenset()),
        (f"{LOOPBACK}/media/a", LOOPBACK, frozenset()),
        ("http://localhost:8080/a", "http://localhost:8080/v1", frozenset()),
        ("https://relay.example/a", "https://relay.example:8443/v1", frozenset()),
        ("https://relay.example:8443/a", "https://relay.example:8443/v1", frozenset()),
        ("http://media.internal/a", BASE, frozenset({"media.internal"})),
        ("http://media.internal:9000/a", BASE, frozenset({"media.internal:9000"})),
        ("https://cdn.example/a", BASE, frozenset({"cdn.example:443"})),
    ],
)
def test_host_of_the_provider_or_of_the_operator_is_allowed(url: str, base: str, allowed: frozenset[str]) -> None:
    """The vendor's own hosts, the service's own host, a sandbox on loopback, and what the operator listed."""
    assert fetch(Vendor(httpx.Response(200, content=b"x")), url, base=base, allowed=allowed) == b"x"


@pytest.mark.parametrize(
    ("url", "base", "allowed"),
    [
        ("https://evil.example/a", BASE, frozenset()),
        ("https://volces.com.evil.example/a", BASE, frozenset()),
        ("https://evilvolces.com/a", BASE, frozenset()),
        ("https://a.volces.com@evil.example/a", BASE, frozenset()),
        ("http://bucket.tos-cn-beijing.volces.com/a", BASE, frozenset()),
        ("http://169.254.169.254/latest/meta-data", BASE, frozenset()),
        ("https://127.0.0.1/a", BASE, frozenset()),
        ("http://relay.example/a", "http://relay.example/v1", frozenset()),
        ("http://media.internal:9001/a", BASE, frozenset({"media.internal:9000"})),
        ("file:///etc/passwd", BASE, frozenset()),
        ("ftp://a.volces.com/a", BASE, frozenset()),
        ("/relative", BASE, frozenset()),
        ("https://", BASE, frozenset()),
        ("https://a.volces.com:port/deadbeef", BASE, frozenset()),
        ("http://localhost:5432/a", "http://localhost:8080/v1", frozenset()),
        ("https://a.volces.com:22/a", BASE, frozenset()),
        ("https://ark.cn-beijing.volces.com:8443/a", BASE, frozenset()),
        ("https://relay.example:22/a", "https://relay.example:8443/v1", frozenset()),
        ("https://evil.example#.volces.com", BASE, frozenset()),
        ("https://evil.example?.volces.com", BASE, frozenset()),
        ("https://evil.example\\.volces.com/a", BASE, frozenset()),
        ("https://a.volces.com./a", BASE, frozenset()),
        ("https://2130706433/a", BASE, frozenset()),
        ("https://0x7f.1/a", BASE, frozenset()),
        ("https://[::ffff:169.254.169.254]/a", BASE, frozenset()),
        ("data:text/plain,deadbeef", BASE, frozenset()),
        ("https://xn--.volces.com/a", BASE, frozenset()),
        ("https://a.volces.com/deadbeef\ud800", BASE, frozenset()),
        ("https://[a.volces.com/a", BASE, frozenset()),
    ],
)
def test_other_addresses_are_never_asked(url: str, base: str, allowed: frozenset[str]) -> None:
    """A result URL comes from an answer: it must not lead the fetch to metadata services, local files or strangers."""
    vendor = Vendor(httpx.Response(200, content=b"x"))
    assert refused(vendor, url, base=base, allowed=allowed).code is ErrorCode.REF_URL_UNREACHABLE
    assert vendor.requests == []


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_reference_url_expired_or_not_reachable_is_its_own_code(status: int) -> None:
    """An expired signed URL is REF_URL_UNREACHABLE and not retried (huobao #53, #70); the vendor's XML is not quoted."""
    fault = refused(Vendor(httpx.Response(status, text="<Error>deadbeef</Error>")))
    assert fault.code is ErrorCode.REF_URL_UNREACHABLE
    assert not fault.retryable


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, ErrorCode.PROVIDER_ERROR),
        (408, ErrorCode.PROVIDER_TIMEOUT),
        (429, ErrorCode.PROVIDER_RATE_LIMIT),
        (500, ErrorCode.PROVIDER_ERROR),
        (503, ErrorCode.PROVIDER_ERROR),
        (504, ErrorCode.PROVIDER_TIMEOUT),
    ],
)
def test_temporary_refusal_of_a_download_is_retryable(status: int, code: ErrorCode) -> None:
    """A paid result must not be given up for a hiccup; Ark gives 400 for a URL that is only just ready."""
    fault = refused(Vendor(httpx.Response(status)))
    assert fault.code is code
    assert fault.retryable


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (httpx.ReadTimeout("slow"), ErrorCode.PROVIDER_TIMEOUT),
        (httpx.ConnectTimeout("slow"), ErrorCode.PROVIDER_TIMEOUT),
        (TimeoutError(), ErrorCode.PROVIDER_TIMEOUT),
        (httpx.ConnectError("refused"), ErrorCode.PROVIDER_ERROR),
        (httpx.ReadError("reset"), ErrorCode.PROVIDER_ERROR),
        (httpx.RemoteProtocolError("peer closed connection without sending complete message body"), ErrorCode.PROVIDER_ERROR),
    ],
    ids=lambda value: type(value).__name__,
)
def test_broken_download_is_retryable(fault: Exception, code: ErrorCode) -> None:
    """A download that breaks off is asked for again; the job is never created again for it."""
    caught = refused(Vendor(fault))
    assert caught.code is code
    assert caught.retryable


@pytest.mark.parametrize("declared", ["9", "3"])
def test_truncated_download_is_not_taken_for_a_result(declared: str) -> None:
    """Fewer or more bytes than announced would be stored as a broken film."""

    async def body() -> AsyncIterator[bytes]:
        yield b"film"

    fault = refused(Vendor(lambda _: httpx.Response(200, content=body(), headers={"content-length": declared})))
    assert fault.code is ErrorCode.PROVIDER_ERROR
    assert fault.retryable


def test_empty_download_is_not_a_result() -> None:
    """Zero bytes with a 200 are a hiccup of the store."""
    assert refused(Vendor(httpx.Response(200, content=b""))).retryable


@pytest.mark.parametrize("announced", [True, False])
def test_download_over_its_limit_is_stopped(*, announced: bool) -> None:
    """An endless body must not fill the memory; asking again cannot help."""

    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b"x" * 300

    headers = {"content-length": "1000000"} if announced else {}
    fault = refused(Vendor(lambda _: httpx.Response(200, content=endless(), headers=headers)))
    assert fault.code is ErrorCode.UNKNOWN_ERROR
    assert not fault.retryable


def test_dripping_download_ends_at_its_time_limit() -> None:
    """The client starts its read time-out anew with every byte; the total limit must end it."""

    async def drip() -> AsyncIterator[bytes]:
        while True:
            yield b"x"
            await asyncio.sleep(0.001)

    wire = Wire(service(), create_seconds=60.0, transport=Vendor(lambda _: httpx.Response(200, content=drip())).transport)
    with pytest.raises(ProviderFault) as caught:
        run(wire.fetch(URL, limits=FetchLimits(max_bytes=10**9, seconds=0.02)))
    assert caught.value.code is ErrorCode.PROVIDER_TIMEOUT


def test_redirect_within_the_host_is_followed() -> None:
    """Stores redirect to the final object; the same host keeps its trust."""
    vendor = Vendor(httpx.Response(302, headers={"location": "/final.mp4"}), httpx.Response(200, content=b"film"))
    assert fetch(vendor) == b"film"
    assert vendor.requests[1].url.path == "/final.mp4"


@pytest.mark.parametrize(
    "target",
    [
        "https://[",
        "https://xn--.volces.com/",
        "https://other.volces.com/a",
        "https://evil.example/a",
        "http://bucket.tos-cn-beijing.volces.com/a",
    ],
)
def test_redirect_to_another_host_or_to_plain_http_is_refused(target: str) -> None:
    """A redirect must not lead where the URL itself could not."""
    vendor = Vendor(httpx.Response(302, headers={"location": target}))
    assert refused(vendor).code is ErrorCode.REF_URL_UNREACHABLE
    assert len(vendor.requests) == 1


def test_redirect_loop_ends() -> None:
    """Four requests at most."""
    vendor = Vendor(httpx.Response(302, headers={"location": "/again"}))
    assert refused(vendor).code is ErrorCode.REF_URL_UNREACHABLE
    assert len(vendor.requests) == 4
