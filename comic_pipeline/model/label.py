"""The label that says that a film or picture was made by AI (GB 45438-2025): what it shows, and the mark inside the file.

Belongs here: the values and their JSON. Does not: drawing the label (`media/label.py`), writing and reading the mark
(`media/aigc.py`), whether a film carries them (`quality/label.py`).
"""

from pydantic import BaseModel, ConfigDict, Field

# The metadata key of the mark.
AIGC_KEY = "AIGC"
# What the standard asks of a film: seen from the first frame for at least two seconds, not lower than 5 % of the shorter side.
SHOWN_MS_MIN = 2_000
HEIGHT_MIN = 0.05
# A little longer than asked, so that no rounding of frames makes it shorter.
_SHOWN_MS = 2_500


class AigcMark(BaseModel):
    """The implicit mark, under the key `AIGC`, with the names of the standard. `label`: 1 made by AI, 2 maybe, 3 suspected."""

    model_config = ConfigDict(frozen=True, populate_by_name=True, extra="forbid")

    label: str = Field(default="1", alias="Label", pattern="^[123]$")
    content_producer: str = Field(alias="ContentProducer")
    produce_id: str = Field(alias="ProduceID")
    reserved_code_1: str = Field(default="", alias="ReservedCode1")
    content_propagator: str = Field(default="", alias="ContentPropagator")
    propagate_id: str = Field(default="", alias="PropagateID")
    reserved_code_2: str = Field(default="", alias="ReservedCode2")

    def to_json(self) -> str:
        """Compact JSON in the standard's order."""
        return self.model_dump_json(by_alias=True)


class AiLabel(BaseModel):
    """What one film or picture carries: the words that are seen, for how much of a film, and the mark in the file."""

    model_config = ConfigDict(frozen=True)

    text: str
    whole_film: bool
    mark: AigcMark

    def shown_ms(self, film_ms: int) -> int:
        """How long a film of `film_ms` shows the words, from its first frame on."""
        return film_ms if self.whole_film else min(film_ms, _SHOWN_MS)
