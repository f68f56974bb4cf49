"""The review page in a real browser, opened from a file without a network."""

import asyncio
from pathlib import Path

import pytest

from comic_pipeline.media.fonts import font_path
from comic_pipeline.stages.review_page import Material, write_review_page
from comic_pipeline_tests.filmset import HOSTILE, FilmSet

CHROMIUM = Path("/usr/bin/chromium")
QUIET = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)
MEDIA = "[...document.querySelectorAll('video, audio')].map(one => [one.tagName, one.readyState, one.duration > 0, one.error])"
PICTURES = "[...document.images].map(one => one.naturalWidth > 0)"

pytestmark = [
    pytest.mark.endurance,
    pytest.mark.skipif(not CHROMIUM.exists(), reason="no Chromium on this machine: apt-get install chromium"),
]


def test_the_page_plays_from_a_file_and_runs_nothing_of_what_anybody_wrote(
    film_set: FilmSet, material: Material, tmp_path: Path
) -> None:
    """Film, clips and voices are ready to play, every picture shows, no request leaves, no dialog opens, languages switch."""
    from playwright.sync_api import sync_playwright

    made = asyncio.run(write_review_page(film_set.studio, material, code_versions={}))
    page_file = tmp_path / "away" / "review.html"
    page_file.parent.mkdir()
    page_file.write_bytes(film_set.workshop.objects.get(made.page.key))
    (tmp_path / "fonts").mkdir()
    (tmp_path / "fonts" / "film.otf").symlink_to(font_path())
    seen: list[str] = []
    environment = {"XDG_DATA_HOME": str(tmp_path), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=list(QUIET), env=environment)
        page = browser.new_page(viewport={"width": 1180, "height": 900})
        page.on("dialog", lambda dialog: (seen.append(f"dialog {dialog.message}"), dialog.dismiss()))
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
        browser.close()
    assert seen == [page_file.as_uri()]
    assert (tmp_path / "review.png").stat().st_size > 50_000
