"""The built-in studio: it writes, draws, speaks and moves without a network, at no cost, the same for the same request.

Belongs here: one provider a craft (`story`, `panels`, …) behind the same five verbs as every vendor, and what those of them
that answer at once share. Does not: being a fallback. An offline provider works only where it was chosen by name.
"""

from datetime import datetime

from comic_pipeline.model.errors import ErrorCode, ProviderFault
from comic_pipeline.providers.interface import CancelOutcome, FoundJob, Inline, JobStatus, Output


class AnswersAtOnce:
    """The verbs that mean nothing to a provider whose `submit` is `Done` at once: it has no jobs to look at, drop or find."""

    name: str

    async def poll(self, job_id: str, request: object) -> JobStatus:  # noqa: ARG002 - the provider protocol's signature
        """Raise ProviderFault(NOT_FOUND): no job was ever made."""
        raise ProviderFault(ErrorCode.NOT_FOUND, f"{self.name} answers at once and makes no jobs; cannot poll {job_id!r}")

    async def cancel(self, job_id: str) -> CancelOutcome:  # noqa: ARG002 - the provider protocol's signature
        """Always UNSUPPORTED: nothing is under way once `submit` has returned."""
        return CancelOutcome.UNSUPPORTED

    async def find(self, request: object, *, since: datetime) -> tuple[FoundJob, ...]:  # noqa: ARG002 - protocol's signature
        """Always empty: no job outlives its `submit`."""
        return ()

    async def fetch(self, output: Output) -> bytes:
        """The bytes of an inline output. Raises ProviderFault(NOT_FOUND) for a link, which this provider never gives."""
        if isinstance(output, Inline):
            return output.data
        raise ProviderFault(ErrorCode.NOT_FOUND, f"{self.name} gives no links; there is nothing to fetch")

    async def close(self) -> None:
        """Nothing to let go of."""
