"""A queue that knows our tags: runs started from an asset page or a backfill carry none of their own.

Named in `dagster.yaml`; loaded by the daemon, the webserver and the code server alike.
"""

import dagster as dg
from dagster._core.storage.tags import PARTITION_NAME_TAG  # the tag has no public name

from comic_pipeline.launching import stage_tags
from comic_pipeline.model.errors import ComicError
from comic_pipeline.model.workflow import STAGE_ID_TAG, STAGE_OF_ASSET, STAGE_RULES, Stage
from comic_pipeline.settings import load_settings
from comic_pipeline.store import projects
from comic_pipeline.store.database import Database


class StageTagCoordinator(dg.QueuedRunCoordinator):
    """Adds the missing tags of stage runs at submission, so that every limit of `dagster.yaml` holds for them too."""

    def submit_run(self, context: dg.SubmitRunContext) -> dg.DagsterRun:
        """Queue the run with its tags complete."""
        run = context.dagster_run
        missing = {key: value for key, value in _tags_of(run).items() if key not in run.tags}
        if missing:
            self._instance.add_run_tags(run.run_id, missing)
        return super().submit_run(context)


def _tags_of(run: dg.DagsterRun) -> dict[str, str]:
    project_id = run.tags.get(PARTITION_NAME_TAG)
    if project_id is None or STAGE_ID_TAG in run.tags:
        return {}
    chosen = _stages_of(run)
    if not chosen:
        return {}
    settings = load_settings()
    database = Database(settings.effective_database_url)
    try:
        with database.read() as connection:
            project = projects.get(connection, project_id)
    except ComicError:
        # A key that is no project: the run itself refuses it with a clear failure, which a failed submission would hide.
        return {}
    finally:
        database.close()
    tags: dict[str, str] = {}
    # The last stage names queue and stage: in a run over several it is the longest and dearest.
    for stage in chosen:
        tags |= stage_tags(stage, project, settings)
    return tags


def _stages_of(run: dg.DagsterRun) -> list[Stage]:
    names = {key.path[-1] for key in run.asset_selection or ()}
    if not names:
        names = {asset for rule in STAGE_RULES.values() if rule.job == run.job_name for asset in rule.assets}
    return [stage for stage in Stage if any(STAGE_OF_ASSET.get(name) is stage for name in names)]
