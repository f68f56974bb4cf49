"""Music that the operator supplies, as a provider: its bytes take the same way through the ledger as all other work."""

from decimal import Decimal

from comic_pipeline.model.task import sha256_hex
from comic_pipeline.providers.interface import Done, Go, Inline, JsonObject, MusicRequest, at_once
from comic_pipeline.providers.offline import AnswersAtOnce


class FileMusic(AnswersAtOnce):
    """`Provider[MusicRequest]` that answers every request with the same file. Its bytes are part of the key, not its name."""

    name = "file_music"
    model = "file"
    base_url = ""
    asynchronous = False
    offline = False

    def __init__(self, data: bytes) -> None:
        self._data = data

    def describe(self, request: MusicRequest) -> JsonObject:  # noqa: ARG002 - the provider protocol's signature
        """The file's hash."""
        return {"sha256": sha256_hex(self._data)}

    def estimate(self, request: MusicRequest) -> Decimal:  # noqa: ARG002 - the provider protocol's signature
        """Always zero: what the file cost was paid elsewhere."""
        return Decimal(0)

    async def submit(self, request: MusicRequest, *, go: Go = at_once) -> Done:  # noqa: ARG002 - the protocol's signature
        """The file's bytes."""
        await go()
        return Done(output=Inline(self._data), usage={}, cost=Decimal(0))
