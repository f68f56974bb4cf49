"""The review page: everything that a person needs to decide about a film, in one file that needs no server and no network.

Belongs here: what is shown, and the template's rendering. All of it is escaped, whoever wrote it; the page has no script, and its
policy lets none run and nothing be loaded from elsewhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from comic_pipeline.model.licence import Licence
from comic_pipeline.model.review import Review
from comic_pipeline.model.task import Task
from comic_pipeline.model.verdict import Verdict

if TYPE_CHECKING:
    from jinja2 import Template


@dataclass(frozen=True)
class Shown:
    """A stored file on the page. `data` is its data URI, or empty when it is too large and only linked."""

    name: str
    link: str
    mime: str
    data: str = ""


@dataclass(frozen=True)
class ShotRow:
    """One shot. Times in seconds; `picture_is_card`: drawn by policy because the picture could not be made."""

    seq: int
    scene: str
    speaker: str
    line: str
    silenced: bool
    seconds: float
    picture: Shown
    picture_is_card: bool
    clip: Shown
    voice: Shown | None
    made_by: str
    cost: str


@dataclass(frozen=True)
class CostRow:
    """What one type of task cost at one provider: pieces asked for, creates sent, money as text."""

    task_type: str
    provider: str
    pieces: int
    creates: int
    lost: int
    cost: str


@dataclass(frozen=True)
class VersionRow:
    """One made piece that was kept: a film, or a piece that is not in the film. `picture` is small, of pictures only."""

    task: Task
    in_film: bool
    file: Shown
    picture: Shown | None


@dataclass(frozen=True)
class ReviewFacts:
    """The whole page. `language` is the one that is shown first; `facts` are (zh, en, value) lines about the film."""

    language: str
    title: str
    project_id: str
    film: Shown
    film_is_preview: bool
    cover: Shown
    offline: bool
    facts: Sequence[tuple[str, str, str]]
    shots: Sequence[ShotRow]
    verdicts: Sequence[Verdict]
    decisions: Sequence[Review]
    costs: Sequence[CostRow]
    spent: str
    versions: Sequence[VersionRow]
    licences: Sequence[Licence]
    files: Sequence[tuple[str, str, Shown]]

    @property
    def warnings(self) -> int:
        """Findings that did not close a gate, and gates that a person opened: what the decision is about."""
        return sum(len(verdict.findings) or bool(verdict.override_by) for verdict in self.verdicts)


def render_review(review: ReviewFacts) -> str:
    """The page as HTML."""
    return _template().render(review=review)


@cache
def _template() -> "Template":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("comic_pipeline", "pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("review.html")
