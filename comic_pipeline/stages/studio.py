"""What a stage works with, built once a run."""

from dataclasses import dataclass
from datetime import datetime

from comic_pipeline.model.label import AigcMark, AiLabel
from comic_pipeline.model.media import MediaRef
from comic_pipeline.model.project import Project
from comic_pipeline.model.storyboard import Overrides, Storyboard
from comic_pipeline.model.task import hash_of
from comic_pipeline.model.workflow import STAGE_RULES, Stage, StageRule
from comic_pipeline.providers.registry import Providers, user_hash
from comic_pipeline.settings import Settings
from comic_pipeline.store import overrides
from comic_pipeline.work.desk import Desk
from comic_pipeline.work.orders import Verified

_SEED_RANGE = 2**31 - 1


@dataclass(frozen=True)
class Commission:
    """A project and who makes it: enough to say what would be ordered, and what it would cost."""

    project: Project
    settings: Settings
    providers: Providers

    @property
    def user_hash(self) -> str:
        """The user as providers may know them."""
        return user_hash(self.settings, self.project.user_id)

    @property
    def any_offline(self) -> bool:
        """Whether any of the film's material is made without a real provider; said wherever the film is shown."""
        chosen = (self.providers.text, self.providers.image, self.providers.voice, self.providers.video)
        return any(provider.offline for provider in chosen)

    def seed(self, *, kind: str, seq: int, take: int, wished: int | None) -> int:
        """The shot's seed: the operator's, or one that is stable for project, shot and take and differs between shots.

        Differing seeds also tell jobs of one project apart when an answer was lost.
        """
        return wished if wished is not None else int(hash_of([self.project.id, kind, seq, take])[:8], 16) % _SEED_RANGE

    def ai_label(self, of: str) -> AiLabel | None:
        """The label of one film or picture, known by the hash `of` its material; None when labels are switched off."""
        settings = self.settings
        if not settings.ai_label:
            return None
        produce_id = f"{self.project.id}-{of[:16]}"
        mark = AigcMark(
            content_producer=settings.ai_label_producer,
            produce_id=produce_id,
            content_propagator=settings.ai_label_propagator,
            propagate_id=produce_id if settings.ai_label_propagator else "",
        )
        return AiLabel(text=settings.ai_label_text, whole_film=settings.ai_label_whole_film, mark=mark)


@dataclass(frozen=True)
class Studio(Commission):
    """One project's stage at work."""

    desk: Desk

    def overrides(self) -> Overrides:
        """What operators changed in single shots of this project."""
        with self.desk.database.read() as connection:
            return overrides.load(connection, self.project.id)

    def now(self) -> datetime:
        """The current time in UTC."""
        return self.desk.clock.now()

    async def store(self, verified: Verified, *, folder: str, name: str = "") -> MediaRef:
        """Store bytes that cost nothing (a cover, subtitles) beside the paid media, content-addressed."""
        return await self.desk.put_media(verified, project_id=self.project.id, folder=folder, name=name)


def rule_of(stage: Stage) -> StageRule:
    """The stage's row of the stage table."""
    return STAGE_RULES[stage]


def as_wished(studio: Studio, storyboard: Storyboard) -> tuple[Storyboard, Overrides]:
    """The storyboard with the operators' changes, and the changes themselves (for takes)."""
    changes = studio.overrides()
    return changes.apply(storyboard), changes
