"""The way from an adapter to its service: proxies, certificates and names of the environment; bodies on real sockets."""

import asyncio
import gzip
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from comic_pipeline.model.errors import ErrorCode, OutcomeUnknown, ProviderFault
from comic_pipeline.providers.http import Wire
from comic_pipeline.providers.keys import ask_services
from comic_pipeline.settings import load_settings
from comic_pipeline_tests.unit.providers.vendor import KEY, service

_VARIABLES = [name for stem in ("http_proxy", "https_proxy", "all_proxy", "no_proxy") for name in (stem, stem.upper())]
# A name that no DNS knows: whoever reaches it came through the proxy.
_HOST = "ark.invalid"
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the proxy of the test."""
    for name in [*_VARIABLES, "SSL_CERT_FILE", "SSL_CERT_DIR"]:
        monkeypatch.delenv(name, raising=False)


@asynccontextmanager
async def listening(serve: Serve, *, tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """A server that treats every connection with `serve` and closes it; its address."""
    serving: set[asyncio.Task[None]] = set()

    async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            # The client may go first.
            with suppress(OSError, EOFError):
                await serve(reader, writer)
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving.add(asyncio.create_task(one(reader, writer)))

    server = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=tls)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    for task in serving:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


class _Gate:
    """Counts how often a create asked to leave."""

    def __init__(self) -> None:
        self.asked = 0

    async def __call__(self) -> None:
        self.asked += 1


async def _create(base_url: str, gate: _Gate, *, seconds: float = 5.0) -> int:
    wire = Wire(service(base_url=base_url), create_seconds=seconds)
    try:
        return (await wire.create("/x", {"prompt": "p"}, go=gate)).status
    finally:
        await wire.close()


def _certificate(folder: Path, host: str) -> tuple[ssl.SSLContext, Path]:
    """A server's context for `host`, and the file that makes clients trust it."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    now = datetime.now(UTC)
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(7)
    made = made.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    made = made.add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
    made = made.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    pem, trusted = serialization.Encoding.PEM, folder / "trusted.pem"
    public = made.sign(key, hashes.SHA256()).public_bytes(pem)
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "server.pem").write_bytes(private + public)
    trusted.write_bytes(public)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem")
    return context, trusted


def test_a_create_through_a_proxy_is_one_request_that_the_proxy_cannot_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The gate is asked once, for the request itself and not for the CONNECT, which carries no key."""
    context, trusted = _certificate(tmp_path, _HOST)
    gate, heard = _Gate(), []

    async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append((gate.asked, await reader.readuntil(b"\r\n\r\n")))
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await writer.drain()
        await writer.start_tls(context)
        heard.append((gate.asked, await reader.readuntil(b"\r\n\r\n")))
        writer.write(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\n\r\n{}")
        await writer.drain()

    async def main() -> int:
        async with listening(proxy) as address:
            monkeypatch.setenv("HTTPS_PROXY", address)
            monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
            return await _create(f"https://{_HOST}/api/v3", gate)

    assert asyncio.run(main()) == 400
    (before, tunnel), (after, request) = heard
    assert (before, after) == (0, 1)
    assert tunnel.startswith(f"CONNECT {_HOST}:443".encode())
    assert KEY.encode() not in tunnel
    assert request.startswith(b"POST /api/v3/x ")
    assert KEY.encode() in request


async def _hangs_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")


async def _is_silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    await asyncio.sleep(60)


async def _talks_nonsense(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"SSH-2.0-OpenSSH_9.6\r\n")
    await writer.drain()


async def _wants_a_password(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n")
    await writer.drain()


async def _opens_and_speaks_no_tls(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 400 Bad Request\r\n\r\n")
    await writer.drain()
    await reader.read(100)


@pytest.mark.parametrize(
    ("proxy", "code"),
    [
        (_hangs_up, ErrorCode.PROVIDER_ERROR),
        (_is_silent, ErrorCode.PROVIDER_TIMEOUT),
        (_talks_nonsense, ErrorCode.PROVIDER_ERROR),
        (_wants_a_password, ErrorCode.PROVIDER_ERROR),
        (_opens_and_speaks_no_tls, ErrorCode.PROVIDER_ERROR),
    ],
)
def test_a_proxy_that_leads_nowhere_has_sent_nothing(monkeypatch: pytest.MonkeyPatch, proxy: Serve, code: ErrorCode) -> None:
    """No request left this machine: booking it as a lost call, or asking a person about it, would be wrong."""
    gate = _Gate()

    async def main() -> ProviderFault:
        async with listening(proxy) as address:
            monkeypatch.setenv("HTTPS_PROXY", address)
            with pytest.raises(ProviderFault) as caught:
                await _create(f"https://{_HOST}/api/v3", gate, seconds=0.3)
            return caught.value

    fault = asyncio.run(main())
    assert (fault.code, type(fault), gate.asked) == (code, ProviderFault, 0)
    assert fault.retryable


def test_an_answer_that_a_plain_proxy_lost_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Over plain http the proxy is given the request itself: what became of it nobody knows."""
    gate, heard = _Gate(), []

    async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readuntil(b"\r\n\r\n"))

    async def main() -> None:
        async with listening(proxy) as address:
            monkeypatch.setenv("HTTP_PROXY", address)
            with pytest.raises(OutcomeUnknown):
                await _create(f"http://{_HOST}/api/v3", gate)

    asyncio.run(main())
    assert len(heard) == gate.asked == 1
    assert heard[0].startswith(f"POST http://{_HOST}/api/v3/x ".encode())


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("ALL_PROXY", "socks5://me:hunter2@127.0.0.1:7890"),
        ("HTTPS_PROXY", "http://me:hunter2@host:port"),
        ("HTTPS_PROXY", "socks4://me:hunter2@host:1"),
        ("NO_PROXY", "127.0.0.0/8,::1/128"),
        ("SSL_CERT_FILE", "/hunter2/no.pem"),
    ],
)
def test_an_environment_without_a_way_out_is_named(monkeypatch: pytest.MonkeyPatch, variable: str, value: str) -> None:
    """A proxy that cannot be used is an operator's matter with a name, not a trace in the middle of a paid stage; no password."""
    monkeypatch.setenv(variable, value)
    wire, gate = Wire(service(base_url=f"https://{_HOST}/api/v3"), create_seconds=5.0), _Gate()
    acts: list[Callable[[], Coroutine[None, None, object]]] = [
        lambda: wire.create("/x", {}, go=gate),
        lambda: wire.look("GET", "/x"),
    ]
    for act in acts:
        with pytest.raises(ProviderFault) as caught:
            asyncio.run(act())
        assert caught.value.code is ErrorCode.UNKNOWN_ERROR
        assert variable in str(caught.value)
        assert "hunter2" not in str(caught.value)
    assert gate.asked == 0
    settings = load_settings(COMIC_TEXT_PROVIDER="ark", ARK_API_KEY=KEY)
    (answer,) = asyncio.run(ask_services(settings))
    assert not answer.good
    assert variable in answer.detail


def test_a_name_that_no_dns_knows_is_no_lost_answer() -> None:
    """Nothing was sent, and it may be tried again."""
    gate = _Gate()
    with pytest.raises(ProviderFault) as caught:
        asyncio.run(_create(f"https://{_HOST}/api/v3", gate))
    assert (caught.value.code, type(caught.value), gate.asked) == (ErrorCode.PROVIDER_ERROR, ProviderFault, 0)


def test_a_certificate_that_nobody_vouches_for_gets_no_request(tmp_path: Path) -> None:
    """Neither the key nor the prompt goes to a server that is not the one that was meant."""
    context, _ = _certificate(tmp_path, "localhost")
    heard: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.read(100))

    async def main() -> ProviderFault:
        async with listening(serve, tls=context) as address:
            with pytest.raises(ProviderFault) as caught:
                await _create(address.replace("http://127.0.0.1", "https://localhost"), _Gate())
            return caught.value

    fault = asyncio.run(main())
    assert (fault.code, type(fault)) == (ErrorCode.PROVIDER_ERROR, ProviderFault)
    assert [words for words in heard if words] == []


def _giving(answer: bytes) -> Serve:
    """A server that reads a request's head, answers with the rest of a 200, and closes."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\n" + answer)
        await writer.drain()

    return serve


def _chunked(*parts: bytes) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (*parts, b""))


@pytest.mark.parametrize(
    "answer",
    [
        b"content-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n"
        + _chunked(*(bytes([x]) for x in gzip.compress(b'{"id": 1}'))),
        b"transfer-encoding: chunked\r\n\r\n" + _chunked(b"\xef\xbb\xbf", b'{"i', b'd": 1}'),
        b"content-type: text/html\r\ncontent-length: 9\r\n\r\n" + b'{"id": 1}',
        b'connection: close\r\n\r\n{"id": 1}',
    ],
    ids=["gzip in chunks of a byte", "chunks and a byte order mark", "as a page", "until the end"],
)
def test_an_answer_is_read_however_it_comes(answer: bytes) -> None:
    """Packing, chunks and the declared kind are the server's choice; the document is the same."""

    async def main() -> object:
        async with listening(_giving(answer)) as address:
            wire = Wire(service(base_url=address), create_seconds=5.0)
            try:
                return (await wire.create("/x", {})).document()
            finally:
                await wire.close()

    assert asyncio.run(main()) == {"id": 1}


@pytest.mark.parametrize(
    "answer",
    [
        b"content-length: 100\r\n\r\n" + b'{"id": 1}',
        b"content-encoding: gzip\r\ncontent-length: 9\r\n\r\n" + b'{"id": 1}',
        b"content-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n" + _chunked(gzip.compress(bytes(100))[:20])[:-5],
    ],
    ids=["cut", "not packed", "packed and cut"],
)
def test_an_answer_that_breaks_off_is_lost(answer: bytes) -> None:
    """A part of an answer is no answer, and what was ordered may exist."""

    async def main() -> None:
        async with listening(_giving(answer)) as address:
            with pytest.raises(OutcomeUnknown):
                await _create(address, _Gate())

    asyncio.run(main())


@pytest.mark.timeout(30)
def test_an_answer_that_drips_ends_at_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A byte every moment keeps the read time-out from ever ending it."""
    monkeypatch.setattr("comic_pipeline.providers.http.CONNECT_SECONDS", 1.0)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n")
        while True:
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.02)

    async def main() -> None:
        async with listening(serve) as address:
            with pytest.raises(OutcomeUnknown):
                await _create(address, _Gate(), seconds=0.2)

    asyncio.run(main())
