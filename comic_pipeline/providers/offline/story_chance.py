"""Chance drawn from words: the same words give the same draws, in every process and on every machine.

Belongs here: the one source of variety of the offline studio. Does not: secrets, ids, or anything that must not be guessed.
"""

import hashlib
import random
from collections.abc import Sequence
from typing import TypeVar

_T = TypeVar("_T")


class Chance:
    """A stream of draws seeded by `words`. Built on `random()` alone, the one method whose sequence Python promises to keep."""

    def __init__(self, *words: object) -> None:
        digest = hashlib.sha256("\x1f".join(map(str, words)).encode("utf-8", "surrogatepass")).digest()
        self._random = random.Random(int.from_bytes(digest[:8], "big"))  # noqa: S311 - repeatable variety, no secret

    def between(self, low: float, high: float) -> float:
        """A number from `low` to below `high`."""
        return low + (high - low) * self._random.random()

    def whole(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return low + int(self._random.random() * (high - low + 1))

    def likely(self, share: float) -> bool:
        """True in `share` (0 to 1) of all draws."""
        return self._random.random() < share

    def pick(self, choices: Sequence[_T]) -> _T:
        """One of `choices`, which must not be empty."""
        return choices[int(self._random.random() * len(choices))]

    def mixed(self, choices: Sequence[_T]) -> list[_T]:
        """All `choices` in a drawn order."""
        keyed = [(self._random.random(), index) for index in range(len(choices))]
        return [choices[index] for _, index in sorted(keyed)]

    def grains(self, count: int) -> bytes:
        """`count` bytes of even noise."""
        return self._random.getrandbits(8 * count).to_bytes(count, "little")
