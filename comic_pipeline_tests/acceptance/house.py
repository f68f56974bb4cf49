"""A whole project in this process: the deployment's reconciler and jobs, the sandbox as every provider, a real instance."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from comic_pipeline import service
from comic_pipeline.defs.io import document_key
from comic_pipeline.demo.drive import drive
from comic_pipeline.model.media import FinalVideo, Subtitles
from comic_pipeline.model.project import Tier
from comic_pipeline.model.submission import Answer
from comic_pipeline.model.workflow import SubmissionKind
from comic_pipeline.settings import load_settings
from comic_pipeline.stages.workshop import open_workshop
from comic_pipeline.status import ProjectStatus, status_of
from comic_pipeline.store.submissions import NewSubmission
from comic_pipeline_tests.deployed import prepare

Document = TypeVar("Document", bound=BaseModel)


class House:
    """One COMIC_HOME and what a user does with it. `captured`: what stages print is kept, which takes four processes each."""

    def __init__(self, home: Path, environment: Mapping[str, str], *, captured: bool = False) -> None:
        self._captured = captured
        self.settings = load_settings(COMIC_HOME=str(home), **environment)
        prepare(self.settings)
        self.workshop = open_workshop(self.settings)
        self.stages_run: list[str] = []

    def close(self) -> None:
        """Let go of the database."""
        self.workshop.database.close()

    def ask(
        self, kind: SubmissionKind, payload: Mapping[str, Any], *, project_id: str | None = None, user: str = "ann"
    ) -> Answer:
        """Submit and decide at once, as the command line does."""
        new = NewSubmission(
            kind=kind, user_id=user, tier=Tier.PAID, payload=json.dumps(payload, ensure_ascii=False), project_id=project_id
        )
        house = service.house_of(self.settings, now=self.workshop.clock.now())
        with self.workshop.database.write() as connection:
            submission = service.submit(connection, new, now=house.now)
            service.decide(connection, submission, house)
            return service.answer_of(connection, submission.id)

    def produce(self, idea: str, **asked: str) -> ProjectStatus:
        """Ask for a film and drive it until the project is no longer in production."""
        project_id = self.ask(SubmissionKind.PRODUCE, {"idea": idea, **asked}).project_id
        return self.go_on(project_id)

    def go_on(self, project_id: str) -> ProjectStatus:
        """Drive until the project is no longer in production; `stages_run` then holds the stages of this drive."""
        self.stages_run = []
        drive(self.workshop, lambda: project_id, lambda launch: self.stages_run.append(launch.stage), captured=self._captured)
        return self.status(project_id)

    def status(self, project_id: str) -> ProjectStatus:
        """Where the project stands."""
        with self.workshop.database.read() as connection:
            return status_of(connection, project_id, self.settings)

    def film(self, project_id: str) -> FinalVideo:
        """The document of the film."""
        return FinalVideo.model_validate_json(self.workshop.objects.get(document_key(project_id, "final_video")))

    def document(self, project_id: str, asset: str, kind: type[Document]) -> Document:
        """The document of an asset."""
        return kind.model_validate_json(self.workshop.objects.get(document_key(project_id, asset)))

    def subtitles(self, project_id: str) -> Subtitles:
        """The document of the subtitles."""
        return Subtitles.model_validate_json(self.workshop.objects.get(document_key(project_id, "subtitles")))
