"""The Chromium of this machine, for tests that look at pages as people do.

Belongs here: finding and starting it. Does not: what a page must show (the tests).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from comic_pipeline.media.fonts import font_path

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHROMIUM = Path("/usr/bin/chromium")
_QUIET = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)


@contextmanager
def chromium(home: Path) -> Iterator["Browser"]:
    """A headless browser whose profile and fonts lie in `home`. Fails the test by name where none is installed."""
    from playwright.sync_api import sync_playwright

    if not CHROMIUM.exists():
        pytest.fail(f"no Chromium at {CHROMIUM}: apt-get install chromium")
    (home / "fonts").mkdir(parents=True, exist_ok=True)
    # Chinese letters come from the project's own font: a bare machine has none.
    (home / "fonts" / "film.otf").symlink_to(font_path())
    environment: dict[str, str | float | bool] = {"XDG_DATA_HOME": str(home), "HOME": str(home), "PATH": "/usr/bin:/bin"}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=list(_QUIET), env=environment)
        try:
            yield browser
        finally:
            browser.close()
