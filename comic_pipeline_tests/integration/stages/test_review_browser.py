"""The review page in a real browser, opened from a file without a network."""

import asyncio
from pathlib import Path

import pytest

from comic_pipeline.stages.review_page import Material, write_review_page
from comic_pipeline_tests.chromium import chromium
from comic_pipeline_tests.filmset import HOSTILE, FilmSet

MEDIA = "[...document.querySelectorAll('video, audio')].map(one => [one.tagName, one.readyState, one.duration > 0, one.error])"
PICTURES = "[...document.images].map(one => one.naturalWidth > 0)"

pytestmark = pytest.mark.endurance


def test_the_page_plays_from_a_file_and_runs_nothing_of_what_anybody_wrote(
    film_set: FilmSet, material: Material, tmp_path: Path
) -> None:
    """Film, clips and voices are ready to play, every picture shows, no request leaves, no dialog opens, languages switch."""
    made = asyncio.run(write_review_page(film_set.studio, material, code_versions={}))
    page_file = tmp_path / "away" / "review.html"
    page_file.parent.mkdir()
    page_file.write_bytes(film_set.workshop.objects.get(made.page.key))
    seen: list[str] = []
    with chromium(tmp_path / "browser") as browser:
        page = browser.new_page(viewport={"width": 1180, "height": 900})
        page.on("dialog", lambda dialog: seen.append(f"dialog {dialog.message}"))
        page.on("dialog", lambda dialog: dialog.dismiss())
        page.on("console", lambda message: seen.append(f"console {message.text}"))
        page.on("pageerror", lambda error: seen.append(f"error {error}"))
        page.on("request", lambda request: None if request.url.startswith("data:") else seen.append(request.url))
        page.goto(page_file.as_uri())
        page.wait_for_function("[...document.querySelectorAll('video, audio')].every(one => one.readyState >= 2)")

        assert page.evaluate(MEDIA) == [["VIDEO", 4, True, None]] * 2 + [["AUDIO", 4, True, None]] + [
            ["VIDEO", 4, True, None]
        ] * 2 + [["AUDIO", 4, True, None]]
        assert all(page.evaluate(PICTURES))
        assert page.get_by_text(HOSTILE).count() >= 1
        assert page.get_by_role("heading", name="Contact sheet").count() == 0
        page.get_by_text("English", exact=True).click()
        assert page.get_by_role("heading", name="Contact sheet").count() == 1
        page.screenshot(path=str(tmp_path / "review.png"), full_page=True)
    assert seen == [page_file.as_uri()]
    assert (tmp_path / "review.png").stat().st_size > 50_000
