"""The wire: one request a create, which transport fault means what, and what may be shown."""

import asyncio
import logging
from datetime import UTC, datetime

import httpx
import pytest

from comic_pipeline.model.errors import ErrorCode, OutcomeUnknown, ProviderFault, Refused
from comic_pipeline.providers import http
from comic_pipeline.providers.download import FetchLimits
from comic_pipeline.providers.envelope import Reply, VendorError, parse_retry_after, read_error, safe_text
from comic_pipeline.providers.http import Service, Wire
from comic_pipeline_tests.unit.providers.vendor import BASE, KEY, Vendor, html, run, service

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)
NOT_SENT = [
    (httpx.ConnectError("refused"), ErrorCode.PROVIDER_ERROR),
    (httpx.ConnectTimeout("slow"), ErrorCode.PROVIDER_TIMEOUT),
    (httpx.PoolTimeout("full"), ErrorCode.PROVIDER_TIMEOUT),
    (httpx.ProxyError("no tunnel"), ErrorCode.PROVIDER_ERROR),
]
LOST = [
    httpx.ReadTimeout("slow"),
    httpx.ReadError("reset"),
    httpx.RemoteProtocolError("Server disconnected without sending a response."),
    httpx.WriteError("broken pipe"),
    httpx.WriteTimeout("slow"),
    httpx.DecodingError("bad gzip"),
    TimeoutError(),
]


def wire(vendor: Vendor) -> Wire:
    return Wire(service(), create_seconds=60.0, transport=vendor.transport, now=lambda: NOW)


@pytest.mark.parametrize(("fault", "code"), NOT_SENT, ids=lambda value: type(value).__name__)
def test_create_that_never_left_is_a_plain_retryable_fault(fault: httpx.HTTPError, code: ErrorCode) -> None:
    """No connection means no task: trying again is safe and must be allowed."""
    vendor = Vendor(fault)
    with pytest.raises(ProviderFault) as caught:
        run(wire(vendor).create("/x", {}))
    assert not isinstance(caught.value, OutcomeUnknown)
    assert caught.value.code is code
    assert caught.value.retryable


@pytest.mark.parametrize("fault", LOST, ids=lambda value: type(value).__name__)
def test_create_times_out_after_the_server_accepted_and_is_not_sent_again(fault: Exception) -> None:
    """ArcReel PR#793: a retry after a lost answer makes a second paid job. The outcome is unknown, and one request was made."""
    vendor = Vendor(fault)
    with pytest.raises(OutcomeUnknown) as caught:
        run(wire(vendor).create("/x", {}))
    assert caught.value.code is ErrorCode.OUTCOME_UNKNOWN
    assert vendor.methods == ["POST"]


@pytest.mark.parametrize("status", [200, 301, 307, 308, 400, 408, 409, 429, 500, 502, 503, 504])
def test_create_is_one_request_whatever_the_answer(status: int) -> None:
    """No status is retried or followed: a redirect of a POST would be a second create."""
    vendor = Vendor(httpx.Response(status, json={}, headers={"location": f"{BASE}/elsewhere"}))
    reply = run(wire(vendor).create("/x", {"a": 1}))
    assert reply.status == status
    assert len(vendor.requests) == 1


@pytest.mark.parametrize("fault", [*LOST], ids=lambda value: type(value).__name__)
def test_look_that_got_no_answer_is_retryable(fault: Exception) -> None:
    """Polls and lists may be repeated freely, so a lost answer is a plain time-out."""
    with pytest.raises(ProviderFault) as caught:
        run(wire(Vendor(fault)).look("GET", "/x"))
    assert caught.value.code is ErrorCode.PROVIDER_TIMEOUT
    assert not isinstance(caught.value, OutcomeUnknown)


def test_redirect_to_a_host_that_is_no_name_is_a_lost_answer() -> None:
    """The client decodes the host of a redirect although nobody follows it: that was a trace in the middle of a paid call."""
    answer = httpx.Response(302, headers={"location": "https://xn--.example/"})
    with pytest.raises(OutcomeUnknown):
        run(wire(Vendor(answer)).create("/x", {}))
    with pytest.raises(ProviderFault):
        run(wire(Vendor(answer)).look("GET", "/x"))


def test_answer_over_the_cap_is_a_lost_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A create whose answer cannot be taken in may have been paid for; a look can simply fail."""
    monkeypatch.setattr(http, "REPLY_MB", 0)
    with pytest.raises(OutcomeUnknown):
        run(wire(Vendor(httpx.Response(200, json={"id": "x"}))).create("/x", {}))
    with pytest.raises(ProviderFault) as caught:
        run(wire(Vendor(httpx.Response(200, json={"id": "x"}))).look("GET", "/x"))
    assert caught.value.code is ErrorCode.PROVIDER_ERROR


def test_wire_works_again_in_another_event_loop() -> None:
    """Each asset body runs its own event loop: a pool of the last one would fail before a create is sent."""
    vendor = Vendor(httpx.Response(200, json={}))
    door = wire(vendor)
    run(door.create("/x", {}))
    run(door.create("/x", {}))

    async def close_and_go_on() -> int:
        await door.close()
        await door.close()
        return (await door.create("/x", {})).status

    assert run(close_and_go_on()) == 200
    assert len(vendor.requests) == 3


def test_cancelled_create_is_not_taken_for_a_lost_one() -> None:
    """A stop signal must pass through: swallowing it would let a cancelled run go on."""

    async def stopped() -> None:
        async def hang(request: httpx.Request) -> httpx.Response:
            await asyncio.Event().wait()
            raise AssertionError(request)

        door = Wire(service(), create_seconds=60.0, transport=httpx.MockTransport(hang))
        task = asyncio.create_task(door.create("/x", {}))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        run(stopped())


def test_key_goes_out_in_the_header_and_nowhere_else() -> None:
    """The key belongs to the Authorization header; error texts and reprs of the account must not show it."""
    vendor = Vendor(httpx.ReadTimeout(f"while sending Bearer {KEY}"))
    with pytest.raises(OutcomeUnknown) as caught:
        run(wire(vendor).create("/x", {"prompt": "p"}))
    assert vendor.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in str(caught.value)
    assert KEY not in repr(service())


def test_signed_urls_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    """The client logs every URL at INFO; a signed one would lie in the run's logs for everybody to use."""
    vendor = Vendor(httpx.Response(200, content=b"bytes"))

    async def fetch() -> bytes:
        return await wire(vendor).fetch(
            "https://b.tos-cn-beijing.volces.com/v.mp4?X-Tos-Signature=deadbeef", limits=FetchLimits(1_000, 10.0)
        )

    with caplog.at_level(logging.DEBUG):
        logging.getLogger("httpx").setLevel(logging.NOTSET)
        assert run(fetch()) == b"bytes"
    assert "deadbeef" not in caplog.text


@pytest.mark.parametrize("key", ["密钥", "two\nlines", "tab\there"])
def test_key_that_no_header_can_carry_is_refused_by_name(key: str) -> None:
    """A pasted line break in a key must be a clear refusal at start, not an encoding error in the middle of a paid stage."""
    with pytest.raises(Refused) as caught:
        Service(name="ark_text", base_url=BASE, headers={"Authorization": f"Bearer {key}"}, secrets=(key,))
    assert "Authorization" in str(caught.value)
    assert key not in str(caught.value)


@pytest.mark.parametrize(
    "base_url",
    [
        "",
        "ark.example",
        "ftp://host/x",
        "https://user:pw@host/x",
        "https://host/x?y=1",
        "https://",
        "https://xn--.example",
        "https://host/\ud800",
    ],
)
def test_base_url_that_cannot_be_used_is_refused(base_url: str) -> None:
    """A wrong address is found when providers are built, before any project starts."""
    with pytest.raises(Refused):
        Service(name="ark_text", base_url=base_url, headers={}, secrets=())


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("3", 3.0),
        ("2.5", 2.5),
        ("Mon, 30 Nov 2026 12:00:20 GMT", 20.0),
        ("Mon, 30 Nov 2026 11:00:00 GMT", 0.0),
        ("999999999", 3_600.0),
        ("soon", None),
        ("-5", None),
        ("nan", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after_is_read_as_seconds_or_date(header: str | None, seconds: float | None) -> None:
    """MoneyPrinterV2 #266: Retry-After is honoured when it is there and never required; nonsense is ignored."""
    assert parse_retry_after(header, now=NOW) == seconds


def test_reply_carries_the_vendors_ids_and_retry_after() -> None:
    """An operator who asks the vendor needs the id of the call."""
    answer = httpx.Response(429, json={}, headers={"X-Request-Id": "0217", "Retry-After": "3"})
    reply = run(wire(Vendor(answer)).create("/x", {}))
    assert (reply.status, reply.request_id, reply.retry_after) == (429, "0217", 3.0)


@pytest.mark.parametrize(
    ("document", "error"),
    [
        ({"error": {"code": "A.B", "message": "m", "param": "p", "type": "T"}}, VendorError("A.B", "m", "p")),
        ({"error": {"code": None, "message": "m", "type": "insufficient_quota"}}, VendorError("insufficient_quota", "m")),
        ({"error": {"code": 1303, "message": "m"}}, VendorError("1303", "m")),
        ({"error": "in words"}, VendorError("", "in words")),
        (
            {"ResponseMetadata": {"RequestId": "r", "Error": {"CodeN": 100010, "Code": "SignatureDoesNotMatch", "Message": "m"}}},
            VendorError("SignatureDoesNotMatch", "m", request_id="r"),
        ),
        ({"code": "Throttled", "message": "m"}, VendorError("Throttled", "m")),
        ({"error": None, "id": "x"}, None),
        ({"message": "m"}, None),
        ({}, None),
        (None, None),
    ],
)
def test_error_is_found_in_every_envelope(document: dict[str, object] | None, error: VendorError | None) -> None:
    """Ark, the gateway before it and proxies use three shapes; a success has none."""
    assert read_error(document) == error


@pytest.mark.parametrize("body", [b"", b"<html>502</html>", b"[1]", b"null", b"\xff\xfe\x00", b"[" * 100_000, b'{"a":'])
def test_body_that_is_no_json_object_is_no_document(body: bytes) -> None:
    """HTML, nothing, a cut body and a JSON bomb must all end in a typed error later, never in a trace here."""
    assert Reply(status=502, body=body).document() is None


def test_safe_text_hides_keys_signatures_and_media() -> None:
    """Vendors quote requests in their errors: none of that may reach a row, a log line or the UI."""
    text = (
        f"key {KEY} sk-abcdef Bearer xyz.abc Bearer;t0ken url https://h/p.png?X-Tos-Signature=dead&b=1 "
        f"data:image/png;base64,iVBORw0KGgo= {'A' * 400}\nnext\x00line"
    )
    shown = safe_text(text, secrets=(KEY,))
    for secret in (KEY, "abcdef", "xyz.abc", "t0ken", "dead", "iVBORw0KGgo", "AAAA", "\n", "\x00"):
        assert secret not in shown
    assert "https://h/p.png?***" in shown
    assert len(safe_text("wort " * 1_000, secrets=())) == 300


def test_html_answer_is_described_not_quoted() -> None:
    """A page has nothing for a person: its kind and length say enough."""
    reply = run(wire(Vendor(html(502))).create("/x", {}))
    assert reply.shape.startswith("text/html, ")
    assert reply.document() is None
