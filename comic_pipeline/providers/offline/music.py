"""The built-in musician: a piece in the film's mood, the same for the same request. Nobody's rights are in it.

Belongs here: what decides a piece, and the child's life. Does not: notes (`music_score.py`), sounds (`music_tones.py`).
"""

import json
from dataclasses import asdict
from decimal import Decimal

from comic_pipeline.model.errors import ErrorCode, ProviderFault
from comic_pipeline.providers.interface import Done, Go, Inline, JsonObject, MusicRequest, at_once
from comic_pipeline.providers.offline import AnswersAtOnce
from comic_pipeline.providers.offline.child import run_child
from comic_pipeline.providers.offline.music_moods import MOODS

_TIMEOUT = 120.0  # seconds; a piece of 16 bars takes about 5


class OfflineMusic(AnswersAtOnce):
    """Plays without a network; `Provider[MusicRequest]`. Results are WAV, 48 kHz, stereo, 16 bits, and repeat without a seam."""

    name = "offline_music"
    model = "synth-1"
    base_url = ""
    asynchronous = False
    offline = True

    def describe(self, request: MusicRequest) -> JsonObject:
        """Everything that decides the piece. Raises ProviderFault(INPUT_INVALID) for a mood that it cannot play."""
        if request.mood not in MOODS:
            raise ProviderFault(
                ErrorCode.INPUT_INVALID, f"mood {request.mood[:40]!r} is unknown to {self.name}; one of: {', '.join(MOODS)}"
            )
        return asdict(request)

    def estimate(self, request: MusicRequest) -> Decimal:  # noqa: ARG002 - the provider protocol's signature
        """Always zero."""
        return Decimal(0)

    async def submit(self, request: MusicRequest, *, go: Go = at_once) -> Done:
        """Play the piece. Raises ProviderFault: INPUT_INVALID (unknown mood), PROVIDER_TIMEOUT or PROVIDER_ERROR."""
        await go()
        asked = json.dumps(self.describe(request)).encode()
        child = ("-m", "comic_pipeline.providers.offline.music_child")
        data = await run_child(child, asked, what="music", limit=_TIMEOUT)
        return Done(output=Inline(data), usage={"milliseconds": request.length_ms}, cost=Decimal(0))
