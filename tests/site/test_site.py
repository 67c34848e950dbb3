"""The site of a lesson, clicked through in a browser."""

import re
import subprocess
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpuviz.cli import main
from gpuviz.course import SCENES, lesson
from gpuviz.draw.marks import Boxes, Frame, Raster, Texts
from gpuviz.draw.palette import DARK, LIGHT, Palette, code
from gpuviz.draw.stage import Stage
from gpuviz.export.svg_marks import elements
from gpuviz.lectures.bundle import find
from gpuviz.lectures.bundle import opened as opened_lecture
from gpuviz.run.session import Session
from gpuviz.site import making
from gpuviz.site.lesson_page import _table, points, varied
from gpuviz.site.two_themes import picture
from tests.export import pictures
from tests.site.browser import browser, opened

LESSON, LECTURE = "alignment", "coalescing-and-banks"
AXE = "axe-core@4"


def test_points_are_of_the_course_and_begin_with_the_lesson() -> None:
    assert set(_table()) <= {one.id for one in SCENES}
    for one in SCENES:
        every = points(one)
        assert every[0] == one.defaults()
        assert 1 < len(every) <= 30 and len({tuple(v.items()) for v in every}) == len(every)
        named = {name for row in _table().get(one.id, {}).get("grid", ()) for name in row}
        assert named <= varied(one, every).keys()


def test_values_of_the_grid_are_in_it() -> None:
    every = points(lesson("coalescing"))
    assert {(v["stride"], v["offset"]) for v in every} >= set(product((1, 2, 4, 8, 32), (0, 1)))


def _drawn(stage: Stage) -> Frame:
    palette, rect = stage.palette, np.array([[9.0, 9, 9, 9], [20, 9, 9, 9], [31, 9, 9, 9]])
    boxes = Boxes(rect, fill=palette.lanes[:3], stroke=palette.border, hatch=palette.waste)
    image = Raster((0, 30, 20, 20), palette.lanes[:4].reshape(2, 2, 4))
    text = Texts(np.array([[5.0, 5.0]]), ("sectors",), palette.ink, 14.0)
    return Frame(60, 60, palette.ground, (boxes, image, text))


@pytest.mark.parametrize(("palette", "side"), [(LIGHT, 1), (DARK, 2)])
def test_a_picture_of_two_themes_is_that_of_each(palette: Palette, side: int) -> None:
    both = picture(_drawn, Stage(60, 60, LIGHT))
    seen = [e for e in both.elements if ("in-light", "in-dark")[2 - side] not in e]
    found = re.sub(r"light-dark\((#\w+),(#\w+)\)", rf"\{side}", "".join(seen))
    alone = "".join(elements(_drawn(Stage(60, 60, palette))))
    assert _without_hatch(found) == _without_hatch(alone)
    (name, pattern), *others = both.patterns.items()
    assert not others and f"url(#{name})" in found
    assert code(palette.waste) in pattern


def _without_hatch(text: str) -> str:
    """Its colours, shapes and texts; names of hatches differ, and how rasters are enlarged."""
    text = re.sub(r'class="in-\w+" |base64,[^"]*', "", text)
    return re.sub(r"url\(#hatch-\w+\)", "hatch", text)


def test_a_lesson_there_is_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["site", "-o", str(tmp_path), "--lesson", "nothing"]) == 2
    assert "nothing" in capsys.readouterr().err and not any(tmp_path.iterdir())


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of one lesson and one lecture."""
    root = tmp_path_factory.mktemp("site")
    assert main(["site", "-o", str(root), "--lesson", LESSON, "--lecture", LECTURE]) == 0
    return root


@pytest.mark.slow
def test_what_is_there_is_not_made_again(site: Path) -> None:
    before = {file: file.stat().st_mtime_ns for file in (site / "data").rglob("*.js")}
    assert len(before) == 2 * len(points(lesson(LESSON))) - 1  # one is part of the page
    assert [d.kept for d in making.make(site, [making.Task("lesson", LESSON)], 1)] == [True]
    assert {file: file.stat().st_mtime_ns for file in before} == before


def _marks(page: Any) -> str:
    return str(page.inner_html("#marks"))


@pytest.mark.slow
def test_clicking_through(site: Path) -> None:
    with browser() as chromium, opened(chromium, site / f"{LESSON}.html") as page:
        first = _marks(page)
        page.click("#next")
        page.wait_for_function("location.hash.startsWith('#t=')")
        assert _marks(page) != first and "now" in page.inner_html("#source")
        # Values: an example, then a slider by keyboard; the address follows.
        page.click(".presets button >> nth=1")
        page.wait_for_function("location.hash.startsWith('#layout=aligned')")
        assert page.get_attribute(".presets button >> nth=1", "aria-pressed") == "true"
        page.focus("[data-parameter=warp]")
        page.keyboard.press("ArrowRight")
        page.wait_for_function("location.hash.includes('warp=1')")
        assert page.get_attribute("[data-parameter=warp]", "aria-valuetext") == "1"
        # A guess: counts wait for it.
        page.click("#ask")
        assert not page.is_visible("nav.playback") and page.is_visible("#asked")
        assert page.evaluate("getComputedStyle(document.getElementById('counts')).visibility") == (
            "hidden"
        )
        page.click("#asked .choices button >> nth=0")
        assert page.inner_text("#verdict") and page.is_visible("nav.playback")
        # A word, by keyboard, and back.
        page.focus(".lead button.word")
        page.keyboard.press("Enter")
        assert "sector" in page.inner_text("#meaning").lower()
        page.keyboard.press("Escape")
        assert page.evaluate("document.activeElement.className") == "word"


@pytest.mark.slow
def test_an_address_leads_to_its_picture(site: Path) -> None:
    with browser() as chromium:
        page_of = site / f"{LESSON}.html"
        with opened(chromium, page_of, "#layout=arrays&t=3.2") as page:
            page.wait_for_function("document.getElementById('clock').textContent.startsWith('3.2')")
            assert page.input_value("[data-parameter=layout]") == '"arrays"'
        with opened(chromium, page_of, "#warp=9") as page:
            page.wait_for_function("document.getElementById('note').textContent.includes('warp=9')")


@pytest.mark.slow
@pytest.mark.parametrize(("folder", "title"), [("", "Coalescing"), ("es/", "Coalescencia")])
def test_a_lecture_asks_before_it_tells(site: Path, folder: str, title: str) -> None:
    slides = opened_lecture(find(LECTURE), Session()).slides
    asked = sum(slide.question is not None for slide in slides)
    file = site / f"{folder}lecture-{LECTURE}.html"
    with browser() as chromium, opened(chromium, file) as page:
        assert page.inner_text("h1").startswith(title)
        assert page.locator("section.slide").count() == len(slides)
        assert page.locator("details").count() == asked > 3
        assert page.eval_on_selector_all("svg", "all => all.every((one) => one.innerHTML)")
        wide = page.get_attribute("svg >> nth=0", "viewBox")
        page.set_viewport_size({"width": 390, "height": 844})
        page.wait_for_function(f"document.querySelector('svg').getAttribute('viewBox') != '{wide}'")
        across = "document.documentElement.scrollWidth"
        figures = "all => Math.max(...all.map((one) => one.scrollWidth - one.clientWidth))"
        assert page.evaluate(across) <= 390
        assert page.eval_on_selector_all("figure", figures) <= 0
        assert not page.is_visible("details figure >> nth=0")
        page.focus("summary >> nth=0")
        page.keyboard.press("Enter")
        assert page.is_visible("details figure >> nth=0")
        links = page.eval_on_selector_all(".slide a", "all => all.map((a) => a.hash)")
        assert any("stride=2" in link for link in links)


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280, 1920])
@pytest.mark.parametrize("name", [f"{LESSON}.html", "index.html", f"es/{LESSON}.html"])
def test_nothing_is_wider_than_the_screen(site: Path, name: str, width: int, theme: str) -> None:
    with (
        browser() as chromium,
        opened(
            chromium, site / name, viewport={"width": width, "height": 800}, color_scheme=theme
        ) as page,
    ):
        if name != "index.html":
            page.wait_for_function("document.getElementById('clock').textContent")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        ground = LIGHT if theme == "light" else DARK
        seen = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert seen == f"rgb({', '.join(map(str, ground.ground[:3].tolist()))})"
        if name.startswith("es/"):
            assert page.get_attribute("#play", "aria-label") == "Reproducir"


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """axe-core, from the registry of npm."""
    npm, folder = pictures.program("npm"), tmp_path_factory.mktemp("axe")
    done = subprocess.run(
        [npm, "install", "--silent", "--no-fund", "--no-audit", "--prefix", str(folder), AXE],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"axe-core could not be fetched: {done.stderr[-200:]}")
    return folder / "node_modules" / "axe-core" / "axe.min.js"


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", [f"{LESSON}.html", "index.html", f"lecture-{LECTURE}.html"])
def test_axe_finds_nothing_serious(site: Path, axe: Path, name: str, theme: str) -> None:
    with browser() as chromium, opened(chromium, site / name, color_scheme=theme) as page:
        page.wait_for_timeout(200)
        page.add_script_tag(path=str(axe))
        found = page.evaluate("axe.run()")["violations"]
        serious = [
            (one["id"], [node["html"][:200] for node in one["nodes"]][:3])
            for one in found
            if one["impact"] in ("serious", "critical")
        ]
        assert serious == []
