"""What HTTP adapters have in common: identity, fetching a result, closing; and what services that answer at once have in common.

Belongs here: the verbs that do not differ between vendors. Does not: any request or answer.
"""

from datetime import datetime
from typing import Generic, TypeVar

import httpx

from comic_pipeline.model.errors import ErrorCode, ProviderFault
from comic_pipeline.providers.download import FetchLimits
from comic_pipeline.providers.http import Service, Wire
from comic_pipeline.providers.interface import CancelOutcome, FoundJob, Inline, JobStatus, Output

RequestT_contra = TypeVar("RequestT_contra", contravariant=True)


class HttpAdapter:
    """One vendor's service for one craft, over one wire. `Provider` says what the attributes mean."""

    asynchronous = False
    offline = False

    def __init__(
        self,
        service: Service,
        *,
        model: str,
        create_seconds: float,
        limits: FetchLimits,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.name = service.name
        self.model = model
        self._wire = Wire(service, create_seconds=create_seconds, transport=transport)
        self.base_url = self._wire.base_url
        self._secrets = service.secrets
        self._limits = limits

    async def fetch(self, output: Output) -> bytes:
        """The result's bytes: those of the answer, or one download. Errors as in `download.download`."""
        if isinstance(output, Inline):
            return output.data
        return await self._wire.fetch(output.url, limits=self._limits)

    async def close(self) -> None:
        """Let go of connections; the adapter can be used again."""
        await self._wire.close()


class AtOnceAdapter(HttpAdapter, Generic[RequestT_contra]):
    """A service whose `submit` answers with the result: there is no job to look at, to cancel or to find."""

    async def poll(self, job_id: str, request: RequestT_contra) -> JobStatus:  # noqa: ARG002  the protocol's signature
        """Never sensible here. Raises ProviderFault(NOT_FOUND)."""
        raise ProviderFault(ErrorCode.NOT_FOUND, f"{self.name} answers at once and keeps no job {job_id[:60]!r}")

    async def cancel(self, job_id: str) -> CancelOutcome:  # noqa: ARG002  the protocol's signature
        """UNSUPPORTED: the answer has come or is lost."""
        return CancelOutcome.UNSUPPORTED

    async def find(self, request: RequestT_contra, *, since: datetime) -> tuple[FoundJob, ...]:  # noqa: ARG002  the protocol's signature
        """Nothing: an answer that was lost cannot be fetched later."""
        return ()
