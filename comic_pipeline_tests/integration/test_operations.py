"""Operations in the running deployment: news of a real film reaches a real receiver, and the clean-up runs as a job."""

from pathlib import Path

import dagster as dg
import pytest

from comic_pipeline_tests.contracts.notify.receiver import SECRET, Answer, receiving
from comic_pipeline_tests.deployment import Deployment, wait_for
from comic_pipeline_tests.integration.test_deployment import finished, submit
from comic_pipeline_tests.sandbox.process import Sandbox
from comic_pipeline_tests.settings import sandbox_environment

pytestmark = [pytest.mark.endurance, pytest.mark.timeout(280)]

_LAUNCH = """
mutation($job: String!, $config: RunConfigData!) {
  launchRun(executionParams: {
    selector: {repositoryLocationName: "comic", repositoryName: "__repository__", jobName: $job}, runConfigData: $config
  }) { __typename ... on LaunchRunSuccess { run { runId } } }
}"""


def test_a_film_is_told_of_and_its_leftovers_are_counted(tmp_path: Path, sandbox: Sandbox) -> None:
    """From `comic submit` to a signed `film.ready`, over a receiver that fails first; `clean_up` reports and ends well."""
    with receiving() as receiver:
        receiver.answers = [Answer(503)]
        news = {"COMIC_WEBHOOK_URL": receiver.url, "COMIC_WEBHOOK_SECRET": SECRET, "COMIC_WEBHOOK_HTTP": "true"}
        with Deployment(home=tmp_path / "home", environment=sandbox_environment(sandbox) | news) as deployment:
            project_id = submit(deployment, "一只小狗学会了飞", user="ann")
            finished(deployment, project_id)
            wait_for("the second try", lambda: len(receiver.got) == 2, seconds=60)
            launched = deployment.graphql(_LAUNCH, job="clean_up", config={})["launchRun"]
            with deployment.instance() as instance:
                run_id = launched["run"]["runId"]

                def ended() -> dg.DagsterRun | None:
                    seen = instance.get_run_by_id(run_id)
                    return seen if seen is not None and seen.is_finished else None

                run = wait_for("the clean-up", ended, seconds=60)
                ticks = {
                    name: {tick.status.value for state in instance.all_instigator_state() if state.instigator_name == name
                           for tick in instance.get_ticks(state.instigator_origin_id, state.selector_id)}
                    for name in ("notification_sensor", "alerts_sensor")
                }  # fmt: skip
    assert run.is_success
    assert run.tags["comic/queue"] == "cleanup_queue"
    (first_id, first), (second_id, second) = receiver.got
    assert (first_id, first) == (second_id, second)
    assert (first["event"], first["project"]["id"]) == ("film.ready", project_id)
    assert receiver.forged == 0
    assert ticks == {"notification_sensor": {"SKIPPED"}, "alerts_sensor": {"SKIPPED"}}
