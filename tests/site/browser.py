"""A headless Chromium for pages on disk, or the test is skipped with the reason."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.export import pictures


@contextmanager
def browser() -> Iterator[Any]:
    """A browser of this machine, driven by Playwright."""
    chromium = pictures.program("chromium-headless-shell", "chromium", "google-chrome")
    driver = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    with driver.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        try:
            yield opened
        finally:
            opened.close()


@contextmanager
def opened(browser: Any, file: Path, end: str = "", **context: Any) -> Iterator[Any]:
    """A page of a file, its address ending in `end`; what its scripts throw fails the test."""
    made = browser.new_context(**context)
    page, thrown, asked = made.new_page(), [], []
    page.on("pageerror", lambda error: thrown.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri() + end)
    yield page
    made.close()
    assert thrown == []
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
