"""The door to a vendor over HTTP: one create, any number of looks, one download; and which httpx fault means what.

Belongs here: clients, time-outs, size caps, the translation of transport faults. Does not: the meaning of an answer that arrived
(`envelope.py` and the adapters), where results may be fetched from (`download.py`).

The rule that protects money: a create is one HTTP request, never followed, never repeated. A fault before anything was sent is a
plain ProviderFault; after that nobody knows, and it is OutcomeUnknown.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import httpx

from comic_pipeline.model.errors import ErrorCode, OutcomeUnknown, ProviderFault, Refused
from comic_pipeline.providers.download import FetchLimits, HostRules, check_encoding, download, is_loopback
from comic_pipeline.providers.envelope import Reply, parse_retry_after, read_id
from comic_pipeline.providers.interface import Go, JsonObject, at_once

CONNECT_SECONDS = 10.0
POLL_SECONDS = 30.0
REPLY_MB = 64
# Names under which vendors send their id of a call: Ark and OpenAI, speech.
_REQUEST_ID_HEADERS = ("x-request-id", "x-tt-logid")
# What httpcore tells its `trace` extension when it begins to connect, and when a connection is up and the first byte of a request
# is about to be written.
_CONNECTS, _LEAVES = "connection.connect_tcp.started", "http11.send_request_headers.started"
# httpx raises these while it gets a connection: the request has surely not left.
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError, httpx.UnsupportedProtocol)
# UnicodeError: httpx decodes the host of a redirect that nobody follows.
_BROKEN = (httpx.HTTPError, TimeoutError, UnicodeError)


class _ReplyTooLargeError(Exception):
    """A JSON answer over its cap."""


@dataclass(frozen=True)
class Service:
    """One vendor account: where it is, the headers that carry the key, what must never be shown, and whose hosts serve results.

    `own_hosts` are suffixes such as `.volces.com`; `allowed_hosts` come from the settings as `host` or `host:port`.
    """

    name: str
    base_url: str
    headers: Mapping[str, str] = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)
    own_hosts: tuple[str, ...] = ()
    allowed_hosts: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Refuse an address or a key that could not be sent. Raises Refused(INPUT_INVALID); the key is not in its text."""
        try:
            url = httpx.URL(self.base_url)
            host = url.host
        except (httpx.InvalidURL, ValueError) as invalid:
            raise Refused(ErrorCode.INPUT_INVALID, f"{self.name}: the base URL cannot be read") from invalid
        if url.scheme not in ("http", "https") or not host or url.userinfo or url.query:
            raise Refused(ErrorCode.INPUT_INVALID, f"{self.name}: the base URL must be https://host/path, without user and query")
        for header, value in self.headers.items():
            if not value.isascii() or not value.isprintable():
                raise Refused(ErrorCode.INPUT_INVALID, f"{self.name}: the value of {header} has characters no header can carry")


def _utc_now() -> datetime:
    return datetime.now(UTC)


def open_client(
    url: str, *, timeout: float = CONNECT_SECONDS, transport: httpx.AsyncBaseTransport | None = None
) -> httpx.AsyncClient:
    """A client for calls to `url` (`timeout` in seconds) that follows no redirect and takes the proxy of the environment.

    Raises Refused(INPUT_INVALID) when proxy or certificates of the environment cannot be used.
    """
    try:
        # A proxy of the environment has no way to our own loopback.
        own = is_loopback(httpx.URL(url).host)
        return httpx.AsyncClient(transport=transport, follow_redirects=False, timeout=timeout, trust_env=not own)
    except (ImportError, ValueError, OSError, httpx.InvalidURL) as unusable:
        # Its text may quote a proxy's address, which may hold a password.
        why = "SOCKS proxies are not supported" if isinstance(unusable, ImportError) else type(unusable).__name__
        raise Refused(
            ErrorCode.INPUT_INVALID,
            f"no client can be made in this environment ({why}): look at HTTPS_PROXY, ALL_PROXY, NO_PROXY and SSL_CERT_FILE; "
            "a proxy must be http://host:port",
        ) from None


class Wire:
    """The HTTP connection of one adapter. Opened at the first call, opened anew after `close` and in another event loop."""

    def __init__(
        self,
        service: Service,
        *,
        create_seconds: float,
        transport: httpx.AsyncBaseTransport | None = None,
        now: Callable[[], datetime] = _utc_now,
    ) -> None:
        self.service = service
        self.base_url = service.base_url.rstrip("/")
        self._create_seconds = create_seconds
        self._transport = transport
        self._now = now
        self._rules = HostRules.of(self.base_url, own_hosts=service.own_hosts, allowed_hosts=service.allowed_hosts)
        self._client: httpx.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def create(self, path: str, body: JsonObject, *, go: Go = at_once) -> Reply:
        """POST `body` once and return the whole answer, whatever its status.

        `go` is awaited when the connection stands and the body is written, so that between it and the request nothing takes time
        (a TLS handshake alone is a tenth of a second); what it raises goes through. Raises ProviderFault(PROVIDER_ERROR,
        PROVIDER_TIMEOUT) when the request surely was not sent, else OutcomeUnknown.
        """
        name, patience = self.service.name, self._create_seconds + CONNECT_SECONDS
        connecting = False
        try:
            # The read time-out of httpx starts anew with every byte; the outer one ends an answer that only drips.
            async with asyncio.timeout(patience) as limit:

                async def trace(event: str, info: dict[str, Any]) -> None:
                    nonlocal connecting
                    connecting = connecting or event == _CONNECTS
                    # A proxy is sent a CONNECT of its own before.
                    if event == _LEAVES and info["request"].method == b"POST":
                        limit.reschedule(None)
                        await go()
                        connecting = False
                        limit.reschedule(asyncio.get_running_loop().time() + patience)

                extensions = {"trace": trace}
                return await self._exchange("POST", path, read_seconds=self._create_seconds, json=body, extensions=extensions)
        except _NOT_SENT as fault:
            raise self._not_sent(fault) from fault
        except httpx.LocalProtocolError:
            # Its text may quote a header; nothing was sent.
            raise ProviderFault(ErrorCode.INPUT_INVALID, f"{name}: the request cannot be written as HTTP") from None
        except (*_BROKEN, _ReplyTooLargeError) as fault:
            if connecting:
                # The proxy hung up, or said nothing, before there was a way to the service.
                raise self._not_sent(fault) from fault
            raise OutcomeUnknown(
                ErrorCode.OUTCOME_UNKNOWN,
                f"{name}: the answer to POST {path} was lost ({type(fault).__name__}, limit {self._create_seconds:g} s)",
            ) from fault

    async def look(self, method: str, path: str, *, params: Sequence[tuple[str, str]] = ()) -> Reply:
        """GET or DELETE something that may be asked for again, and return the whole answer.

        Raises ProviderFault(PROVIDER_ERROR, PROVIDER_TIMEOUT), both retryable.
        """
        try:
            async with asyncio.timeout(POLL_SECONDS + CONNECT_SECONDS):
                return await self._exchange(method, path, read_seconds=POLL_SECONDS, params=tuple(params))
        except _NOT_SENT as fault:
            raise self._not_sent(fault) from fault
        except _ReplyTooLargeError as fault:
            raise ProviderFault(ErrorCode.PROVIDER_ERROR, f"{self.service.name}: an answer of over {REPLY_MB} MB") from fault
        except _BROKEN as fault:
            raise ProviderFault(
                ErrorCode.PROVIDER_TIMEOUT, f"{self.service.name}: no answer to {method} ({type(fault).__name__})"
            ) from fault

    async def fetch(self, url: str, *, limits: FetchLimits) -> bytes:
        """Download a result, without the key: its URL is signed. See `download.download` for the errors."""
        return await download(self._open(), url, rules=self._rules, limits=limits, service=self.service.name)

    async def close(self) -> None:
        """Let go of connections; the next call opens new ones."""
        client, self._client, self._loop = self._client, None, None
        if client is not None:
            await client.aclose()

    def _open(self) -> httpx.AsyncClient:
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            # httpx logs every URL at INFO, signed query string and all.
            logging.getLogger("httpx").setLevel(logging.WARNING)
            try:
                self._client = open_client(self.base_url, transport=self._transport)
            except Refused as refused:
                raise ProviderFault(ErrorCode.UNKNOWN_ERROR, f"{self.service.name}: {refused.detail}") from refused
            self._loop = loop
        return self._client

    async def _exchange(self, method: str, path: str, *, read_seconds: float, **content: Any) -> Reply:
        timeout = httpx.Timeout(connect=CONNECT_SECONDS, read=read_seconds, write=60.0, pool=CONNECT_SECONDS)
        url = f"{self.base_url}{path}"
        headers = dict(self.service.headers)
        async with self._open().stream(method, url, headers=headers, timeout=timeout, **content) as response:
            check_encoding(response)
            body = bytearray()
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > REPLY_MB * 1024 * 1024:
                    raise _ReplyTooLargeError
        return Reply(
            status=response.status_code,
            body=bytes(body),
            content_type=response.headers.get("content-type", "").partition(";")[0].strip(),
            request_id=next(filter(None, (read_id(response.headers.get(name)) for name in _REQUEST_ID_HEADERS)), ""),
            retry_after=parse_retry_after(response.headers.get("retry-after"), now=self._now()),
        )

    def _not_sent(self, fault: Exception) -> ProviderFault:
        slow = isinstance(fault, httpx.TimeoutException | TimeoutError)
        code = ErrorCode.PROVIDER_TIMEOUT if slow else ErrorCode.PROVIDER_ERROR
        return ProviderFault(code, f"{self.service.name}: no connection to {self.base_url} ({type(fault).__name__})")
