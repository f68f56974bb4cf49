"""The parts of an idea. Belongs here: the value alone; reading is in `story_words*.py`, telling in `story.py`."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Premise:
    """The parts of an idea; empty where it does not say. `clauses` are its own phrases in order, ready to be shown.

    `theme` is what an idea is about that names nobody (爱情, time travel); `named`: the hero has a name and takes no article.
    """

    hero: str
    place: str
    action: str
    met: str
    clauses: tuple[str, ...]
    theme: str = ""
    named: bool = False
