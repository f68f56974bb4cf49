"""The Dagster UI as operators use it: a real browser, the real processes, one film from its pictures to its release."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from comic_pipeline.model.workflow import ProjectState, Stage, StageStatus
from comic_pipeline.store import stages
from comic_pipeline_tests.chromium import chromium
from comic_pipeline_tests.deployment import Deployment, wait_for
from comic_pipeline_tests.integration.test_deployment import finished, submit

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.endurance, pytest.mark.timeout(900)]

GROUPS = {"story", "pictures", "sound", "motion", "film", "release", "projects", "sources", "views", "reports"}
# How long a page may take on a machine that also makes a film, in milliseconds.
_PATIENCE = 60_000
_RUN = 120_000


@pytest.fixture
def page(deployment: Deployment, tmp_path: Path) -> Iterator["Page"]:
    """A window on the deployment's UI; relative addresses work. What the pages logged as errors fails the test at its end."""
    broken: list[str] = []
    with chromium(tmp_path / "browser") as browser:
        context = browser.new_context(
            base_url=f"http://127.0.0.1:{deployment.web_port}", viewport={"width": 1440, "height": 1000}, accept_downloads=True
        )
        made = context.new_page()
        made.set_default_timeout(_PATIENCE)
        made.on("pageerror", lambda error: broken.append(str(error)))
        yield made
    assert broken == []


def test_an_operator_sees_a_film_has_it_made_anew_and_releases_it(page: "Page", deployment: Deployment, tmp_path: Path) -> None:
    """Graph, pictures, verdicts, costs, review page; then `redo_shots` and `review_project` typed into the launchpad."""
    project_id = submit(deployment, "一只小狗学会了飞", user="ann")
    cost = finished(deployment, project_id).cost

    see_the_graph(page)
    for asset in ("frame_images", "final_video", "review_page"):
        see_the_partition(page, asset, project_id)
    assert shown_cost(page, "clips", project_id) > 0
    for asset in ("frame_images", "final_video"):
        see_the_verdict(page, asset, project_id)
    read_the_review_page(page, project_id, tmp_path)

    launch(page, "redo_shots", f"ops: {{redo_stage: {{config: {{project: {project_id}, stage: FRAMES, shots: [1]}}}}}}")
    wait_for("the second film", lambda: rounds(deployment, project_id, Stage.FILM) == 2, seconds=200)
    again = finished(deployment, project_id)
    assert rounds(deployment, project_id, Stage.FRAMES) == 2
    assert again.status == ProjectState.PENDING_REVIEW
    assert again.cost > cost
    see_the_new_round(page, project_id)

    launch(page, "review_project", f"ops: {{review_film: {{config: {{project: {project_id}, decision: APPROVE, by: ann}}}}}}")
    wait_for("the release", lambda: rounds(deployment, project_id, Stage.RELEASE) == 1, seconds=120)
    assert deployment.status(project_id).status == ProjectState.APPROVED
    see_the_release(page, project_id)


def test_a_refused_request_says_why_in_both_languages(page: "Page") -> None:
    """An operator who submits nonsense reads the code and the words in the log of the run."""
    start(page, "submit_project", "ops: {submit_film: {config: {user: ann, idea: ''}}}")

    page.get_by_text("RUN_FAILURE", exact=True).first.wait_for(timeout=_RUN)
    said = page.get_by_text(re.compile(r"INPUT_INVALID: .*\n.*输入内容不符合要求 / The input is not acceptable", re.DOTALL))
    said.first.wait_for()


def see_the_graph(page: "Page") -> None:
    """Every group has its box in the graph."""
    page.goto("/asset-groups")
    for group in GROUPS:
        page.locator("foreignObject").get_by_text(group, exact=True).wait_for()


def see_the_partition(page: "Page", asset: str, project_id: str) -> None:
    """A project's page of an asset is green and shows a picture that has really arrived."""
    page.goto(f"/assets/{asset}?view=partitions&partition={project_id}")
    page.get_by_text("Materialized", exact=True).wait_for()
    preview = page.locator("img[src*='/previews/']").first
    preview.wait_for()
    width = page.wait_for_function("image => image.complete && image.naturalWidth", arg=preview.element_handle()).json_value()
    assert width >= 480, width


def shown_cost(page: "Page", asset: str, project_id: str) -> float:
    """The CNY on a project's page of an asset."""
    page.goto(f"/assets/{asset}?view=partitions&partition={project_id}")
    row = page.get_by_role("row").filter(has=page.get_by_role("cell", name="cost_cny", exact=True)).last
    row.wait_for()
    return float(row.get_by_role("cell").nth(1).inner_text())


def see_the_verdict(page: "Page", asset: str, project_id: str) -> None:
    """The gate has passed for this very project, and shows what it measured."""
    page.goto(f"/assets/{asset}?view=checks&checkDetail={asset}_qc")
    page.get_by_text("This is a blocking asset check").wait_for()
    page.get_by_text("Passed", exact=True).first.wait_for()
    page.get_by_text(project_id, exact=True).first.wait_for()
    page.get_by_role("cell", name="findings", exact=True).wait_for()
    page.get_by_role("cell", name="measured", exact=True).first.wait_for()


def read_the_review_page(page: "Page", project_id: str, folder: Path) -> None:
    """Its link gives one file; opened from the disk it shows film and sheet, and every picture in it loads."""
    page.goto(f"/assets/review_page?view=partitions&partition={project_id}")
    with page.expect_download() as arriving:
        page.get_by_role("link", name=re.compile(r"^review-[0-9a-f]+\.html$")).first.click()
    saved = folder / "review.html"
    arriving.value.save_as(saved)
    opened = page.context.new_page()
    opened.goto(saved.as_uri())
    opened.wait_for_function("document.querySelector('video').readyState >= 2")
    assert opened.evaluate("document.images.length") > 0
    assert opened.evaluate("[...document.images].filter(one => !one.naturalWidth).map(one => one.src.slice(0, 80))") == []
    opened.close()


def launch(page: "Page", job: str, config: str) -> None:
    """Start a job and see its run succeed."""
    start(page, job, config)
    page.get_by_text("RUN_SUCCESS", exact=True).first.wait_for(timeout=_RUN)


def start(page: "Page", job: str, config: str) -> None:
    """Type a run's config into the launchpad and press its button."""
    page.goto(f"/locations/comic/jobs/{job}/playground")
    editor = page.locator(".CodeMirror").first
    editor.wait_for()
    # Until the defaults are in place they would overwrite what is typed.
    page.get_by_role("button", name="Scaffold missing config").wait_for()
    editor.click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(config)
    page.get_by_role("button", name="Launch Run").click()
    page.wait_for_url("**/runs/**")


def see_the_new_round(page: "Page", project_id: str) -> None:
    """Both rounds of the pictures are in the runs of their job."""
    page.goto("/locations/comic/jobs/make_frames/runs")
    page.get_by_text("Success", exact=True).nth(1).wait_for()
    see_the_partition(page, "frame_images", project_id)


def see_the_release(page: "Page", project_id: str) -> None:
    """The published film is there, under the name of who approved it."""
    page.goto(f"/assets/published_video?view=partitions&partition={project_id}")
    page.get_by_text("Materialized", exact=True).wait_for()
    row = page.get_by_role("row").filter(has=page.get_by_role("cell", name="approved_by", exact=True)).last
    row.wait_for()
    assert row.get_by_role("cell").nth(1).inner_text() == "ann"


def rounds(deployment: Deployment, project_id: str, stage: Stage) -> int:
    """How many rounds of a stage have passed. An open asset page does not follow a run: it is opened once that has ended."""
    with deployment.workshop.database.read() as connection:
        return sum((row.stage, row.status) == (stage, StageStatus.PASSED) for row in stages.history(connection, project_id))
