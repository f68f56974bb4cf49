"""A provider's answers: addresses, packing, ids and words that are made to do harm."""

import asyncio
import gzip
import ssl
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from comic_pipeline.model.errors import ErrorCode, InvalidAnswer, OutcomeUnknown, ProviderFault
from comic_pipeline.model.storyboard import build_storyboard
from comic_pipeline.providers import keys
from comic_pipeline.providers.download import FetchLimits
from comic_pipeline.providers.envelope import read_id, safe_text
from comic_pipeline.providers.http import Wire
from comic_pipeline.settings import load_settings
from comic_pipeline_tests.unit.providers.vendor import BASE, Vendor, run, service

_LIMITS = FetchLimits(max_bytes=1_000, seconds=20.0)
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")


class _Packed:
    """An answer that is packed twice; `touched` when somebody began to unpack it."""

    def __init__(self) -> None:
        self.touched = False
        self.response = httpx.Response(200, headers={"content-encoding": "gzip, gzip"}, content=self._body())

    async def _body(self) -> AsyncIterator[bytes]:
        self.touched = True
        yield gzip.compress(gzip.compress(bytes(1 << 20)))


def test_gzip_in_gzip_is_not_unpacked() -> None:
    """Each layer unpacks a thousandfold at one go, before any count of bytes can stop it."""
    packed = _Packed()
    wire = Wire(service(base_url=BASE), create_seconds=60.0, transport=Vendor(packed.response).transport)
    with pytest.raises(ProviderFault) as refused:
        run(wire.fetch("https://bucket.tos-cn-beijing.volces.com/v.mp4", limits=_LIMITS))
    assert refused.value.code is ErrorCode.PROVIDER_ERROR
    assert not packed.touched


def test_an_answer_to_a_create_that_is_packed_twice_counts_as_lost() -> None:
    """It is not read, and what was ordered may exist: nobody creates it a second time unasked."""
    packed = _Packed()
    wire = Wire(service(base_url=BASE), create_seconds=60.0, transport=Vendor(packed.response).transport)
    with pytest.raises(OutcomeUnknown):
        run(wire.create("/images/generations", {}))
    assert not packed.touched


def _certificate(folder: Path) -> ssl.SSLContext:
    """A server's context with a certificate that it made for itself."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    made = made.serial_number(1).not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "server.pem").write_bytes(private + made.sign(key, hashes.SHA256()).public_bytes(pem))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem")
    return context


def test_a_host_of_the_provider_that_dns_turns_to_this_machine_is_told_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """DNS rebinding: whoever answers inside has no certificate for the provider's name, so that no request is ever sent."""
    heard: list[bytes] = []

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.read(1_000))
        writer.close()

    async def attack() -> ErrorCode:
        server = await asyncio.start_server(hear, "127.0.0.1", 0, ssl=_certificate(tmp_path))
        inside = server.sockets[0].getsockname()

        async def turned(*_: object, **__: object) -> list[tuple[object, ...]]:
            return [(2, 1, 6, "", inside)]

        monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", turned)
        wire = Wire(service(base_url=BASE), create_seconds=60.0)
        try:
            with pytest.raises(ProviderFault) as refused:
                await wire.fetch("https://bucket.tos-cn-beijing.volces.com/latest/meta-data", limits=_LIMITS)
        finally:
            await wire.close()
            server.close()
        return refused.value.code

    for name in _PROXIES:
        monkeypatch.delenv(name, raising=False)
    assert asyncio.run(attack()) is ErrorCode.PROVIDER_ERROR
    assert [words for words in heard if words] == []


def test_an_endless_body_does_not_hold_the_doctor(monkeypatch: pytest.MonkeyPatch) -> None:
    """A list of models that never ends: status and headers are all that is looked at."""

    async def pour(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        try:
            while True:
                writer.write(b"1000\r\n" + bytes(4096) + b"\r\n")
                await writer.drain()
        except ConnectionError:
            writer.close()

    async def look() -> list[keys.KeyAnswer]:
        server = await asyncio.start_server(pour, "127.0.0.1", 0)
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
        try:
            async with asyncio.timeout(10):
                return await keys.ask_services(load_settings())
        finally:
            server.close()

    monkeypatch.setenv("COMIC_TEXT_PROVIDER", "openai")
    monkeypatch.setenv("OPENAI_API_KEY", "k-7f3a9c51-secret")
    assert [answer.good for answer in asyncio.run(look())] == [True]


@pytest.mark.parametrize("sent", ["cgt-1\x00", "cgt-1\x1b[2J", "\ud800", "c" * 201, "", 7, None, ["cgt-1"]])
def test_an_id_that_no_row_can_hold_is_none(sent: object) -> None:
    """Postgres refuses a NUL: the id of a paid job would be lost with the commit that should keep it."""
    assert read_id(sent) == ""
    assert read_id("cgt-2026-ab_c") == "cgt-2026-ab_c"


def test_words_of_a_provider_move_no_cursor_and_turn_no_writing() -> None:
    """They end in logs and terminals: escape sequences of both kinds, line ends, direction marks, half characters."""
    said = safe_text("a\x1b[2Jb\x9b31mc\nd\u202ee\u2028f\ud800g", secrets=())
    assert said.isprintable()
    assert said == "a [2Jb 31mc d e f g"


_SHOT = {"scene_desc": "s", "image_prompt": "p"}


@pytest.mark.parametrize(
    ("document", "named"),
    [
        ({"title": "t" * 201, "shots": [_SHOT]}, "title"),
        ({"title": "t", "shots": [_SHOT | {"dialogue": "d" * 4_001}]}, "dialogue"),
        ({"title": "t", "shots": [_SHOT | {"image_prompt": "p" * 400_000}]}, "image_prompt"),
        ({"title": "t", "shots": [_SHOT | {"speaker": "s" * 201}]}, "speaker"),
        ({"title": "t", "shots": [_SHOT | {"duration_ms": 10**400}]}, "duration_ms"),
        ({"title": "t\x1b]0;owned\x07", "shots": [_SHOT]}, "title"),
    ],
)
def test_a_storyboard_of_giant_or_hostile_words_goes_back_to_its_author(document: object, named: str) -> None:
    """A prompt of 400,000 characters would be paid for, a title of that size starts no ffmpeg: the model is asked again."""
    with pytest.raises(InvalidAnswer) as refused:
        build_storyboard(document, shot_ms=5_000)
    assert named in refused.value.problems
