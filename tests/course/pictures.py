"""What holds for the pictures of every lesson: pure, legible, inside the frame, apart."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QFontMetricsF

from gpuviz.base.arrays import F64
from gpuviz.draw.marks import Frame, Mark, Texts
from gpuviz.draw.palette import DARK, LIGHT
from gpuviz.draw.stage import Stage
from gpuviz.qt.look.fonts import font
from gpuviz.story.lesson import Story

STAGES = {
    "window": Stage(700, 330, DARK),
    "small": Stage(760, 480, LIGHT),
    "large": Stage(1270, 700, DARK),
    "full": Stage(1920, 1080, LIGHT),
    "half": Stage(620, 600, DARK),
}
NARROW = ("window", "half")  # words have least room here: what fits, mostly fits the others
stages = pytest.mark.parametrize(
    "stage",
    [name if name in NARROW else pytest.param(name, marks=pytest.mark.slow) for name in STAGES],
)
MOMENTS = (0.0, 1 / 3, 2 / 3, 1.0)
LEAST_LETTER = 12


def sized(stage: str | Stage) -> Stage:
    return STAGES[stage] if isinstance(stage, str) else stage


def frame(story: Story, share: float, stage: str | Stage = "small") -> Frame:
    return story.frame(share * story.duration, sized(stage))


def same(one: Mark, other: Mark) -> bool:
    """Equal in everything but the hover functions."""
    plain = [[x for x in vars(m).values() if not callable(x)] for m in (one, other)]
    return type(one) is type(other) and all(
        np.array_equal(a, b) for a, b in zip(*plain, strict=True)
    )


def words(shown: Frame) -> list[str]:
    """Every string of a picture."""
    return [text for mark in shown.marks if isinstance(mark, Texts) for text in mark.strings]


def text_rects(shown: Frame) -> list[tuple[str, QRectF]]:
    """Each string with the box its capitals take, as Qt measures it."""
    texts, boxes = _placed(shown)
    return [
        (text, QRectF(left, top, right - left, bottom - top))
        for text, (left, top, right, bottom) in zip(texts, boxes.tolist(), strict=True)
    ]


def misplaced(shown: Frame) -> Iterator[str]:
    """Words that are not inside the frame, and words over each other."""
    texts, boxes = _placed(shown)
    low, high = boxes[:, :2], boxes[:, 2:]
    out = (low < 0).any(axis=1) | (high > (shown.width, shown.height)).any(axis=1)
    yield from (f"{texts[i]!r} is outside" for i in np.flatnonzero(out))
    meet = (low[:, None] < high).all(-1) & (high[:, None] > low).all(-1)
    for a, b in np.argwhere(np.triu(meet, 1)):
        yield f"{texts[a]!r} and {texts[b]!r} overlap"


def _placed(shown: Frame) -> tuple[list[str], F64]:
    """The strings, and left, top, right, bottom of each."""
    texts, rows = [], []
    for mark in shown.marks:
        if isinstance(mark, Texts):
            form = (mark.size, mark.bold, mark.mono)
            height = _metrics(*form).capHeight()
            back = {"left": 0, "center": 0.5, "right": 1}[mark.align]
            for (x, y), text in zip(mark.at.tolist(), mark.strings, strict=True):
                if text:
                    width = _width(*form, text)
                    left, top = x - width * back, y - height / 2
                    rows.append((left, top, left + width, top + height))
                    texts.append(text)
    return texts, np.array(rows, np.float64).reshape(-1, 4)


@cache
def _metrics(size: float, bold: bool, mono: bool) -> QFontMetricsF:
    return QFontMetricsF(font(size, bold, mono))


@cache
def _width(size: float, bold: bool, mono: bool, text: str) -> float:
    return _metrics(size, bold, mono).horizontalAdvance(text)


def check_purity(story: Story) -> None:
    """The same moments give the same pictures, in whatever order."""
    first = [frame(story, share) for share in MOMENTS]
    for share, before in reversed(list(zip(MOMENTS, first, strict=True))):
        again = frame(story, share)
        assert len(again.marks) == len(before.marks)
        assert all(map(same, again.marks, before.marks))


def check_text(story: Story, stage: str | Stage) -> None:
    """All words are inside the frame, apart from each other, and large enough."""
    for share in MOMENTS:
        shown = frame(story, share, stage)
        assert [*misplaced(shown)] == [], f"at {share:.2f}"
        texts = [m for m in shown.marks if isinstance(m, Texts) and m.strings]
        assert min(m.size for m in texts) >= LEAST_LETTER


def before_the_end(story: Story) -> float:
    """The last moment of the mechanism: then times are compared."""
    return story.steps[-1].start - 0.01


def check_steps(story: Story) -> None:
    """Steps follow each other without a gap and end with the result."""
    steps = story.steps
    assert steps[0].start == 0
    assert all(abs(a.end - b.start) < 1e-9 for a, b in zip(steps, steps[1:], strict=False))
    assert all(s.end > s.start and s.label for s in steps)
    assert steps[-1].kind == "result"
    assert 8 <= story.duration <= 25
