"""Fetching a finished result: from which hosts, how much, how long, and what a failure means.

Results are signed URLs for GET only (HEAD fails at Ark) that live 24 h. A URL comes from an answer, so it
is not trusted: only the vendor's own hosts over https, the service's own host, and hosts that the operator listed.
"""

import asyncio
import ipaddress
import re
from dataclasses import dataclass

import httpx

from comic_pipeline.model.errors import ErrorCode, ProviderFault

_REDIRECTS = 3
_HTTPS = 443
# What else may stand in a host is read by one library as a part of it and by the next one as its end.
_HOST = re.compile(r"[\w.:-]+")
_MB = 1024 * 1024


@dataclass(frozen=True)
class FetchLimits:
    """The most bytes and seconds that one download may take."""

    max_bytes: int
    seconds: float


IMAGE_LIMITS = FetchLimits(max_bytes=40 * _MB, seconds=120.0)
AUDIO_LIMITS = FetchLimits(max_bytes=20 * _MB, seconds=60.0)
VIDEO_LIMITS = FetchLimits(max_bytes=400 * _MB, seconds=600.0)
TEXT_LIMITS = FetchLimits(max_bytes=4 * _MB, seconds=30.0)


@dataclass(frozen=True)
class HostRules:
    """Where results may lie. `suffixes` start with a dot or are whole hosts; `listed` entries are `host` or `host:port`."""

    home: str
    home_is_plain: bool
    home_port: int
    suffixes: tuple[str, ...]
    listed: frozenset[str]

    @classmethod
    def of(cls, base_url: str, *, own_hosts: tuple[str, ...], allowed_hosts: frozenset[str]) -> "HostRules":
        """The rules of a service at `base_url`. Plain http is allowed at its own host only when that is http on loopback."""
        base = httpx.URL(base_url)
        plain = base.scheme == "http" and is_loopback(base.host)
        listed = frozenset(host.lower() for host in allowed_hosts)
        port = _port_of(base) if plain or base.scheme == "https" else _HTTPS
        return cls(home=base.host, home_is_plain=plain, home_port=port, suffixes=own_hosts, listed=listed)

    def refusal(self, url: httpx.URL) -> str:
        """Why `url` may not be fetched; empty when it may."""
        if url.scheme not in ("http", "https") or not _HOST.fullmatch(url.host) or url.userinfo:
            return "not a plain http(s) address"
        port = _port_of(url)
        if url.host in self.listed or f"{url.host}:{port}" in self.listed:
            return ""
        if url.scheme == "http" and not (url.host == self.home and self.home_is_plain):
            return "not https; list the host in COMIC_PROVIDER_HOSTS if that is meant"
        if port not in (_HTTPS, self.home_port if url.host == self.home else _HTTPS):
            return "not the port that results come from; list host:port in COMIC_PROVIDER_HOSTS if it is meant"
        own = url.host == self.home or any(_within(url.host, suffix) for suffix in self.suffixes)
        return "" if own else "not a host of this provider; list it in COMIC_PROVIDER_HOSTS if it is meant"


def check_encoding(response: httpx.Response) -> None:
    """Raise httpx.DecodingError for a body packed more than once: a few KB of gzip in gzip unpack to gigabytes at a stroke."""
    layers = [name for name in response.headers.get_list("content-encoding", split_commas=True) if name.lower() != "identity"]
    if len(layers) > 1:
        raise httpx.DecodingError(f"{len(layers)} content encodings")


def is_loopback(host: str) -> bool:
    """Whether `host` is this very machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


async def download(client: httpx.AsyncClient, url: str, *, rules: HostRules, limits: FetchLimits, service: str) -> bytes:
    """GET `url` once (plus redirects within its host) and return all its bytes.

    Raises ProviderFault: REF_URL_UNREACHABLE (host not allowed, gone, expired), PROVIDER_TIMEOUT or PROVIDER_ERROR (retryable:
    slow, broken off, cut short, 5xx, and 400, which Ark gives for a URL only just made), UNKNOWN_ERROR (over the size limit).
    """
    try:
        async with asyncio.timeout(limits.seconds):
            return await _follow(client, _parse(url, service=service), rules=rules, limits=limits, service=service)
    except (httpx.RemoteProtocolError, httpx.ReadError, httpx.DecodingError, httpx.ConnectError) as fault:
        raise ProviderFault(ErrorCode.PROVIDER_ERROR, f"{service}: a download broke off ({type(fault).__name__})") from fault
    except UnicodeError:
        # httpx decodes the host of a redirect, whose text may be a signed URL.
        raise _unreachable(service, "it redirects to an address that cannot be read") from None
    except (httpx.HTTPError, TimeoutError) as fault:
        raise ProviderFault(
            ErrorCode.PROVIDER_TIMEOUT,
            f"{service}: a download took too long ({type(fault).__name__}, limit {limits.seconds:g} s)",
        ) from fault


async def _follow(client: httpx.AsyncClient, url: httpx.URL, *, rules: HostRules, limits: FetchLimits, service: str) -> bytes:
    timeout = httpx.Timeout(connect=10.0, read=30.0, write=30.0, pool=10.0)
    for _ in range(_REDIRECTS + 1):
        refusal = rules.refusal(url)
        if refusal:
            raise _unreachable(service, f"{url.scheme}://{url.host}: {refusal}")
        async with client.stream("GET", url, timeout=timeout) as response:
            check_encoding(response)
            if not response.is_redirect:
                return await _read(response, limits=limits, service=service)
            target = url.join(_parse(response.headers.get("location", ""), service=service))
        if target.host != url.host:
            raise _unreachable(service, f"{url.host} redirects to another host, {target.host}")
        url = target
    raise _unreachable(service, f"{url.host} redirects more than {_REDIRECTS} times")


async def _read(response: httpx.Response, *, limits: FetchLimits, service: str) -> bytes:
    status, host = response.status_code, response.url.host
    if status != 200:
        raise _refused(status, host=host, service=service)
    declared = response.headers.get("content-length", "")
    expected = int(declared) if declared.isdecimal() and "content-encoding" not in response.headers else None
    body = bytearray()
    if expected is None or expected <= limits.max_bytes:
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > limits.max_bytes:
                break
    if len(body) > limits.max_bytes or (expected or 0) > limits.max_bytes:
        raise ProviderFault(ErrorCode.UNKNOWN_ERROR, f"{service}: the result is larger than {limits.max_bytes // _MB} MB")
    if not body or (expected is not None and len(body) != expected):
        raise ProviderFault(ErrorCode.PROVIDER_ERROR, f"{service}: {host} sent {len(body)} of {expected} bytes")
    return bytes(body)


def _refused(status: int, *, host: str, service: str) -> ProviderFault:
    said = f"{service}: {host} answered HTTP {status} to a download"
    if status in (401, 403, 404, 410):
        return ProviderFault(ErrorCode.REF_URL_UNREACHABLE, f"{said}; the link has expired or is gone", http_status=status)
    code = {408: ErrorCode.PROVIDER_TIMEOUT, 429: ErrorCode.PROVIDER_RATE_LIMIT, 504: ErrorCode.PROVIDER_TIMEOUT}.get(status)
    if code is None:
        # 400 from a URL that was only just made goes away (seen at Ark).
        retryable = status == 400 or status >= 500
        code = ErrorCode.PROVIDER_ERROR if retryable else ErrorCode.REF_URL_UNREACHABLE
    return ProviderFault(code, said, http_status=status)


def _parse(url: str, *, service: str) -> httpx.URL:
    try:
        parsed = httpx.URL(url)
        # The host is decoded only when it is asked for: a label that is no IDN comes up here.
        readable = parsed.host.isprintable()
    except (httpx.InvalidURL, ValueError):
        readable = False
    if not readable:
        # Without the cause, whose text may quote the signed URL.
        raise _unreachable(service, "an address that cannot be read")
    return parsed


def _unreachable(service: str, reason: str) -> ProviderFault:
    return ProviderFault(ErrorCode.REF_URL_UNREACHABLE, f"{service}: the result cannot be fetched: {reason}")


def _port_of(url: httpx.URL) -> int:
    return url.port or (_HTTPS if url.scheme == "https" else 80)


def _within(host: str, suffix: str) -> bool:
    return host.endswith(suffix) if suffix.startswith(".") else host == suffix
