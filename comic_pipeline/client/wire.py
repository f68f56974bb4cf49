"""One document asked over HTTP: bodies of HTTP 500 are read before anything is raised, reads are repeated, mutations are not."""

import asyncio
import random
from collections.abc import Mapping
from typing import Any

import httpx

from comic_pipeline.client.errors import GraphQLFault, Unauthorised, Unreachable

# Tries of a read, and the first wait between them; it doubles. A restart of the webserver takes some ten seconds.
_TRIES = 6
_FIRST_WAIT = 0.5
_BUSY = frozenset({429, 502, 503, 504})
# What a server has surely not begun to answer.
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol, httpx.LocalProtocolError)

Variables = Mapping[str, Any]


class NotSent(Unreachable):
    """No connection came about: what was to be sent did not arrive."""


class Wire:
    """The connection to one webserver."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    async def read(self, document: str, variables: Variables) -> Any:
        """The root field's value. Raises Unauthorised, GraphQLFault, Unreachable; temporary faults only after several tries."""
        wait = _FIRST_WAIT
        for _ in range(_TRIES - 1):
            try:
                return await self.ask(document, variables)
            except Unreachable:
                pass
            except GraphQLFault as fault:
                if fault.http_status < 500:
                    raise
            await asyncio.sleep(wait * random.uniform(0.8, 1.2))  # noqa: S311  # so that many clients do not come together
            wait *= 2
        return await self.ask(document, variables)

    async def ask(self, document: str, variables: Variables) -> Any:
        """The same, asked once. Raises NotSent when the request surely did not arrive."""
        try:
            answer = await self._http.post("graphql", json={"query": document, "variables": dict(variables)})
        except _NOT_SENT as fault:
            raise NotSent(f"no connection to {self._http.base_url}: {fault!r}") from fault
        except httpx.HTTPError as fault:
            raise Unreachable(f"no answer from {self._http.base_url}: {fault!r}") from fault
        return _root(answer)


def _root(answer: httpx.Response) -> Any:
    if answer.status_code in (401, 403):
        raise Unauthorised(f"HTTP {answer.status_code}: name and password are wrong, or this address is not for them")
    body = _body(answer)
    values = [value for value in (body.get("data") or {}).values() if value is not None]
    # A fault of a resolver comes in the data by its type, with HTTP 500; one in the document comes in `errors`.
    root = values[0] if values else None
    if isinstance(root, dict) and _is_error(root):
        if root["__typename"] == "UnauthorizedError":
            raise Unauthorised(f"{root['message']}: this webserver only reads")
        raise GraphQLFault(root["__typename"], _words(root), http_status=answer.status_code)
    if body.get("errors") or root is None:
        said = "; ".join(str(error.get("message")) for error in body.get("errors") or [{"message": "no data"}])
        raise GraphQLFault("GraphQLError", said, http_status=answer.status_code)
    return root


def _body(answer: httpx.Response) -> dict[str, Any]:
    try:
        body = answer.json()
    except ValueError:
        body = None
    if answer.status_code in _BUSY or not isinstance(body, dict) or not {"data", "errors"} & body.keys():
        raise Unreachable(f"HTTP {answer.status_code} from {answer.request.url}, not from Dagster: {answer.text[:200]!r}")
    return body


def _is_error(root: Mapping[str, Any]) -> bool:
    return "message" in root or root.get("__typename") == "RunConfigValidationInvalid"


def _words(root: Mapping[str, Any]) -> str:
    return str(root.get("message") or "; ".join(error["message"] for error in root["errors"]))
