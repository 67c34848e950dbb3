"""Golden pictures: every lesson at the start, the middle and the end of its story, as text.

A picture is its marks, not its pixels: kinds, strings, colours, and places rounded to whole pixels,
which are compared give or take one. Recordings, assemblers and fonts leave them alone.
`pytest tests/course/test_golden.py --update-golden` accepts what changed.
"""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from gpuviz.base.arrays import Rgba
from gpuviz.course import SCENES
from gpuviz.draw.marks import Boxes, Curves, Frame, Lines, Mark, Raster, Texts
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.story.lesson import Lesson
from tests.course.performed import performed

FOLDER = Path(__file__).parent.parent / "data" / "golden"
STAGE = Stage(960, 540, DARK)
MOMENTS = {"start": 0.0, "middle": 0.5, "end": 1.0}
FEW = 40  # arrays of more rows are told by their extent
QUOTED = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""")
NUMBER = re.compile(r"(?<![\w.#])-?\d+(?![\w.])")


def told(frame: Frame) -> Iterator[str]:
    """A picture as lines of text, one for each mark that has something to draw."""
    yield f"frame {frame.width:.0f} {frame.height:.0f} {_colors(frame.ground)}"
    yield from (_mark(mark) for mark in frame.marks if _drawn(mark))


def _drawn(mark: Mark) -> bool:
    match mark:
        case Texts():
            return any(mark.strings)
        case Boxes():
            return len(mark.rect) > 0
        case Lines() | Curves():
            return len(mark.points) > 0
        case Raster():
            return mark.pixels.size > 0


def _mark(mark: Mark) -> str:
    match mark:
        case Texts():
            face = "bold" * mark.bold + "mono" * mark.mono
            words = " ".join(map(repr, mark.strings))
            parts = (f"{mark.size:.0f} {mark.align} {face}", mark.color, mark.at, words)
        case Boxes():
            parts = (mark.fill, mark.stroke, mark.hatch, mark.rect)
        case Lines() | Curves():
            parts = (mark.color, mark.points.reshape(len(mark.points), -1))
        case Raster():
            parts = (mark.pixels.reshape(-1, 4), np.array([mark.rect], np.float32))
    return " ".join([type(mark).__name__.lower(), *map(_part, parts)])


def _part(value: str | Rgba | npt.NDArray[np.floating] | None) -> str:
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    return _colors(value) if value.dtype == np.uint8 else _places(value)


def _places(values: npt.NDArray[np.floating]) -> str:
    """Rows of numbers; of many rows, how many there are, and the least and most of each column."""
    rounded = np.rint(values).astype(int)
    if len(rounded) <= FEW:
        return " ".join(",".join(map(str, row)) for row in rounded.tolist())
    low, high = (",".join(map(str, f(axis=0).tolist())) for f in (rounded.min, rounded.max))
    return f"{len(rounded)} rows from {low} to {high}"


def _colors(values: Rgba) -> str:
    """The colours there are, with how many cells have them."""
    rows = Counter(bytes(row).hex() for row in np.atleast_2d(values))
    return "+".join(f"#{name}" + f"*{n}" * (n > 1) for name, n in sorted(rows.items()))


def pictures(lesson: Lesson) -> str:
    """The lesson at its three moments."""
    story = performed(lesson, {}).story
    parts = []
    for name, share in MOMENTS.items():
        parts += [f"== {name}", *told(story.frame(share * story.duration, STAGE))]
    return "\n".join(parts) + "\n"


def differs(now: str, then: str) -> bool:
    """Whether two lines differ in a word, or by more than one pixel somewhere."""
    if QUOTED.findall(now) != QUOTED.findall(then):
        return True
    now, then = QUOTED.sub("", now), QUOTED.sub("", then)
    if NUMBER.sub("0", now) != NUMBER.sub("0", then):
        return True
    pairs = zip(NUMBER.findall(now), NUMBER.findall(then), strict=True)
    return any(abs(int(a) - int(b)) > 1 for a, b in pairs)


@pytest.mark.parametrize("lesson", SCENES, ids=lambda lesson: lesson.id)
def test_pictures_are_as_accepted(lesson: Lesson, request: pytest.FixtureRequest) -> None:
    file, now = FOLDER / f"{lesson.id}.txt", pictures(lesson)
    if request.config.getoption("--update-golden"):
        FOLDER.mkdir(exist_ok=True)
        file.write_text(now, encoding="utf-8", newline="\n")
    assert file.is_file(), f"no golden picture of {lesson.id}: run pytest with --update-golden"
    before, after = file.read_text(encoding="utf-8").splitlines(), now.splitlines()
    changed = [(b, a) for b, a in zip(before, after, strict=False) if differs(a, b)]
    assert changed == [] and len(before) == len(after), "look at it, then --update-golden"


def test_no_golden_picture_is_left_over() -> None:
    assert {file.stem for file in FOLDER.glob("*.txt")} <= {lesson.id for lesson in SCENES}


def test_moving_a_mark_or_changing_a_word_is_seen() -> None:
    line = "text 14 left bold #ffffffff 20,31 'stride 2'"
    assert not differs(line.replace("31", "32"), line)
    assert differs(line.replace("31", "33"), line)
    assert differs(line.replace("'stride 2'", "'stride 3'"), line)
    assert differs(line.replace("#ff", "#fe"), line)
    assert differs(line.replace("bold", ""), line)
