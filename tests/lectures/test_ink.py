"""Ink: kept in a lecture's file, drawn where it was, and none of it taken from a bad file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gpuviz.base.errors import InputError
from gpuviz.draw.marks import Strokes
from gpuviz.draw.palette import THEMES
from gpuviz.draw.stage import Stage
from gpuviz.export.svg_marks import elements
from gpuviz.lectures.cues import Cue
from gpuviz.lectures.ink import Ink, Stroke, ink_of, plain_ink, simplified
from gpuviz.lectures.lecture import Slide
from gpuviz.lectures.picture import SlideState, inked
from gpuviz.lectures.reading import parse, read
from gpuviz.lectures.writing import in_file

LIGHT = THEMES["light"]
INK = Ink(
    1280, 720, 1.15, (Stroke("pen", ((10.0, 20.0), (200.5, 300.0))), Stroke("marker", ((5, 5),)))
)
TEXT = """gpuviz-lecture = 1
# mine
title = "Ink"
[[slide]]
title = "Here"
words = "w"
notes = "n"

[[slide]]
title = "There"
words = "v"
"""


def test_what_is_kept_is_read_again_and_the_rest_of_the_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.gpuviz-lecture"
    path.write_text(TEXT)
    assert path.name in in_file(path)({0: lambda slide: replace(slide, ink=INK)})
    lecture = read(path)
    assert lecture.slides[0].ink == INK and not lecture.all_problems
    assert path.read_text().startswith(TEXT[: TEXT.index("[[slide]]")])
    in_file(path)({0: lambda slide: replace(slide, ink=None)})
    assert read(path).slides == parse(TEXT, tmp_path).slides


def test_a_lecture_that_ships_keeps_nothing() -> None:
    from gpuviz.lectures.bundle import shipped

    with pytest.raises(InputError, match="cannot keep it"):
        in_file(shipped()[0])({})


@pytest.mark.parametrize("by", [0.5, 1.5])
def test_on_another_screen_it_lies_where_it_was(by: float) -> None:
    """Letters, lines and ink are the same picture, larger or smaller."""
    shown = SlideState(Slide("Head", words="A line. " * 40, ink=INK))
    one = inked(shown, Cue(), 0.0, Stage(1280, 720, LIGHT, 1.15))
    other = inked(shown, Cue(), 0.0, Stage(1280 * by, 720 * by, LIGHT, 1.3))
    pens = [[m for m in f.marks if isinstance(m, Strokes)][-1] for f in (one, other)]
    assert np.allclose(pens[0].paths[0] * by, pens[1].paths[0])
    assert pens[0].width * by == pytest.approx(pens[1].width)
    texts = [[(m.strings, m.at, m.size) for m in f.marks if hasattr(m, "at")] for f in (one, other)]
    for (said, at, size), (words, there, large) in zip(*texts, strict=True):
        assert said == words and np.allclose(at * by, there, atol=0.1)
        assert size * by == pytest.approx(large)


def test_a_wider_screen_has_it_in_the_middle() -> None:
    shown = SlideState(Slide("Head", words="A line.", ink=INK))
    made = inked(shown, Cue(), 0.0, Stage(1680, 720, LIGHT))
    pen = [m for m in made.marks if isinstance(m, Strokes)][-1]
    assert np.allclose(pen.paths[0][0], (210, 20)) and (made.width, made.height) == (1680, 720)
    assert sum("polyline" in one for one in elements(made)) == 2


def test_a_line_needs_few_points() -> None:
    x = np.linspace(0, 100, 500)
    line = simplified(zip(x, np.zeros_like(x), strict=True))
    assert line == ((0.0, 0.0), (100.0, 0.0))
    bow = simplified(zip(x, 50 * np.sin(x / 30), strict=True))
    assert 5 < len(bow) < 60
    assert np.abs(np.interp(x, *np.array(bow).T) - 50 * np.sin(x / 30)).max() < 1.5


@pytest.mark.parametrize(
    "wrong",
    [
        {"width": 1e9},
        {"letters": 0},
        {"strokes": ["brush 1,2"]},
        {"strokes": ["pen"]},
        {"strokes": ["pen 1,2,3"]},
        {"strokes": ["pen nan,2"]},
        {"strokes": ["pen 1,1e300"]},
        {"strokes": 7},
    ],
)
def test_bad_ink_is_told_and_the_slide_plays(wrong: dict[str, object], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="ink"):
        ink_of({**plain_ink(INK), **wrong})
    bad = TEXT.replace('notes = "n"', "ink = { width = 3, height = 3, letters = 1 }")
    lecture = parse(bad, tmp_path)
    assert lecture.slides[0].playable and lecture.slides[0].ink is None
    assert "line 7" in str(lecture.all_problems[0])
