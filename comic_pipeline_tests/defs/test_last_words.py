"""What a run that fails leaves in its row: the word by which the reconciler decides whether it goes on by itself."""

from pathlib import Path

import dagster as dg
import pytest

from comic_pipeline.defs.io import document_io_manager
from comic_pipeline.defs.run import run_stage
from comic_pipeline.model.errors import ComicError, ErrorCode, ShotFailure, ShotsFailed, StorageFault
from comic_pipeline.model.media import FrameImages
from comic_pipeline.model.workflow import Stage
from comic_pipeline.objects.store import MissingObject
from comic_pipeline.stages.studio import Studio
from comic_pipeline.store import stages
from comic_pipeline_tests.builders import a_project
from comic_pipeline_tests.homes import opened_home

GONE = MissingObject("no object projects/p1/frames/000-0123456789ab.png")
USED_UP = ShotsFailed((ShotFailure(0, ErrorCode.STORAGE_FAILED, "the store is away"),))


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (StorageFault("the store is away"), None, "STORAGE_FAILED: the store is away"),
        (GONE, ErrorCode.STORAGE_FAILED, GONE.detail),
        (USED_UP, ErrorCode.STORAGE_FAILED, "shot 0: STORAGE_FAILED the store is away"),
        (ComicError(ErrorCode.QC_FAILED, "closed"), ErrorCode.QC_FAILED, "closed"),
    ],
    ids=["away", "gone", "rounds used up", "closed gate"],
)
def test_a_store_that_is_away_is_no_word(tmp_path: Path, error: ComicError, code: ErrorCode | None, message: str) -> None:
    """A blip outside the ledger's rounds went straight to an operator; without a word, the reconciler makes another round.

    What does not pass by itself is said: an object that is gone, and a shot whose own rounds are used up.
    """

    async def work(_studio: Studio) -> None:
        raise error

    @dg.asset(partitions_def=dg.StaticPartitionsDefinition(["p1"]), required_resource_keys={"workshop"})
    def frame_images(context: dg.AssetExecutionContext) -> None:
        run_stage(context, Stage.FRAMES, work, show=lambda _: None)

    with opened_home(tmp_path / "home", a_project()) as workshop:
        ended = dg.materialize([frame_images], partition_key="p1", resources={"workshop": workshop}, raise_on_error=False)
        assert not ended.success
        with workshop.database.read() as connection:
            row = stages.latest(connection, "p1")[Stage.FRAMES]
    assert (row.error_code, row.error_message) == (code, message)


def test_a_document_that_cannot_be_written_is_told_in_the_run(tmp_path: Path) -> None:
    """Dagster's log took no error code of ours: the step ended with "can only serialize whitelisted Enums" instead."""

    @dg.asset(partitions_def=dg.StaticPartitionsDefinition(["p1"]), io_manager_key="documents")
    def frame_images() -> FrameImages:
        return FrameImages(frames=())

    with opened_home(tmp_path / "home", a_project()) as workshop, dg.DagsterInstance.ephemeral() as instance:
        # A file stands where the folder should be.
        folder = Path(workshop.settings.effective_objects)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "projects").write_text("in the way")
        resources = {"workshop": workshop, "documents": document_io_manager}
        ended = dg.materialize([frame_images], partition_key="p1", resources=resources, instance=instance, raise_on_error=False)
        logged = instance.all_logs(ended.run_id, of_type=dg.DagsterEventType.STEP_FAILURE)
    failures = [entry.dagster_event.step_failure_data.user_failure_data for entry in logged if entry.dagster_event]
    assert [failure.metadata["error_code"] for failure in failures if failure] == [dg.TextMetadataValue("STORAGE_FAILED")]
