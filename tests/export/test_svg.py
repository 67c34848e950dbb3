import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gpuviz.draw.marks import Boxes, Curves, Frame, Lines, Mark, Raster, Texts
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.export import svg
from tests.export import pictures
from tests.export.pictures import LESSONS, apart, by_qt, middle

pytestmark = pytest.mark.usefixtures("qapp")
SMALL = Stage(100, 60, DARK)
RED = np.array([255, 0, 0, 255], np.uint8)
CLEAR_RED = np.array([255, 0, 0, 128], np.uint8)
MARKS: dict[str, Mark] = {
    "boxes": Boxes(
        np.array([[10.3, 10, 30, 20], [50, 10, 30.7, 40]], np.float32),
        np.stack([RED, CLEAR_RED]),
        stroke=DARK.ink,
        stroke_width=2,
        radius=5,
    ),
    "hatch": Boxes(np.array([[10, 10, 80, 40]], np.float32), DARK.panel, hatch=DARK.waste),
    "cells": Boxes(np.array([[10, 10, 4, 4], [14, 10, 4, 4], [18, 10, 0.2, 4]], np.float32), RED),
    "curves": Curves(np.array([[[5, 5], [5, 40], [90, 20], [90, 55]]], np.float32), RED, 3.0),
    "level": Lines(np.array([[[10, 20], [90, 20]], [[20, 10], [20, 50]]], np.float32), RED),
    "arrows": Lines(np.array([[[10, 10], [80, 50]]], np.float32), RED, 2.0, arrow=True),
    "dash": Lines(np.array([[[10, 30], [90, 30]]], np.float32), RED, 2.0, dash=True),
    "raster": Raster(
        (10, 10, 80, 40),
        np.random.default_rng(1).integers(0, 256, (4, 8, 4), np.uint8)
        | np.array([0, 0, 0, 255], np.uint8),
    ),
}


def by_rsvg(frame: Frame, folder: Path) -> np.ndarray:
    convert = pictures.program("rsvg-convert")
    (folder / "picture.svg").write_text(svg.document(frame), encoding="utf-8")
    pictures.run(folder, convert, folder / "picture.svg", "-o", folder / "picture.png")
    return pictures.pixels(folder / "picture.png")


@pytest.mark.parametrize("name", MARKS)
def test_each_mark_is_drawn_alike_by_another_program(name: str, tmp_path: Path) -> None:
    frame = SMALL.frame(MARKS[name])
    shown = by_qt(frame)
    assert apart(by_rsvg(frame, tmp_path), shown) < 0.2 * apart(shown, by_qt(SMALL.frame()))


@pytest.mark.slow
@pytest.mark.parametrize("name", LESSONS)
def test_lessons_are_drawn_alike_by_another_program(name: str, tmp_path: Path) -> None:
    frame = middle(name)
    assert apart(by_rsvg(frame, tmp_path), by_qt(frame)) < 5  # figures not tabular in librsvg
    wordless = replace(frame, marks=tuple(m for m in frame.marks if not isinstance(m, Texts)))
    assert apart(by_rsvg(wordless, tmp_path), by_qt(wordless)) < 0.6


@pytest.mark.parametrize(
    "name",
    ["banks", *(pytest.param(name, marks=pytest.mark.slow) for name in LESSONS if name != "banks")],
)
def test_lessons_are_drawn_alike_by_a_browser(name: str, tmp_path: Path) -> None:
    chromium = pictures.program("chromium-headless-shell", "chromium", "google-chrome")
    frame = middle(name)
    (tmp_path / "picture.svg").write_text(svg.document(frame), encoding="utf-8")
    pictures.run(
        tmp_path,
        chromium,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        "--window-size=960,540",
        f"--screenshot={tmp_path / 'picture.png'}",
        tmp_path / "picture.svg",
    )
    assert apart(pictures.pixels(tmp_path / "picture.png"), by_qt(frame)) < 2.5


@pytest.mark.parametrize("name", LESSONS)
def test_texts_stay_texts(name: str) -> None:
    frame = middle(name)
    root = ElementTree.fromstring(svg.document(frame, title="A <title> & more"))
    found = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    said = [s for m in frame.marks if isinstance(m, Texts) for s in m.strings if s]
    assert found == said
    assert root.get("viewBox") == "0 0 960 540"


def test_signs_of_xml_are_escaped_and_spaces_kept() -> None:
    text = Texts(np.array([[5, 5]], np.float32), ("a  <b> & \x07c",), RED, 14.0)
    root = ElementTree.fromstring(svg.document(SMALL.frame(text)))
    assert [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")] == ["a  <b> & c"]


def test_many_cells_of_one_colour_are_one_element() -> None:
    y, x = np.divmod(np.arange(10_000), 100)
    cells = np.stack([x * 4, y * 4, x * 0 + 4, x * 0 + 4], axis=1).astype(np.float32)
    text = svg.document(Stage(400, 400, DARK).frame(Boxes(cells, RED)))
    assert len(re.findall("<path", text)) == 1 and len(text) < 250_000


def test_a_transparent_ground_is_left_out() -> None:
    frame = SMALL.frame()
    clear = replace(frame, ground=np.zeros(4, np.uint8))
    assert "<rect" in svg.document(frame) and "<rect" not in svg.document(clear)
