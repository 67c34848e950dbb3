"""What holds for the pictures of every lesson: pure, legible, inside the frame, apart."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from PySide6.QtCore import QRectF
from PySide6.QtGui import QFontMetricsF

from gpuviz.draw.marks import Frame, Mark, Texts
from gpuviz.draw.palette import DARK, LIGHT
from gpuviz.draw.stage import Stage
from gpuviz.qt.look.fonts import font
from gpuviz.scenes.base import Story

STAGES = {
    "window": Stage(700, 330, DARK),
    "small": Stage(760, 480, LIGHT),
    "large": Stage(1270, 700, DARK),
    "full": Stage(1920, 1080, LIGHT),
    "half": Stage(620, 600, DARK),
}
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
    rects = []
    for mark in shown.marks:
        if isinstance(mark, Texts):
            metrics = QFontMetricsF(font(mark.size, mark.bold, mark.mono))
            for (x, y), text in zip(mark.at.tolist(), mark.strings, strict=True):
                if not text:
                    continue
                width, height = metrics.horizontalAdvance(text), metrics.capHeight()
                left = x - width * {"left": 0, "center": 0.5, "right": 1}[mark.align]
                rects.append((text, QRectF(left, y - height / 2, width, height)))
    return rects


def check_purity(story: Story) -> None:
    """The same moments give the same pictures, in whatever order."""
    first = [frame(story, share) for share in MOMENTS]
    for share, before in reversed(list(zip(MOMENTS, first, strict=True))):
        again = frame(story, share)
        assert len(again.marks) == len(before.marks)
        assert all(map(same, again.marks, before.marks))


def check_text(story: Story, stage: str | Stage) -> None:
    """All words are inside the frame, apart from each other, and large enough."""
    size = sized(stage)
    whole = QRectF(0, 0, size.width, size.height)
    for share in MOMENTS:
        shown = frame(story, share, stage)
        placed = text_rects(shown)
        for text, rect in placed:
            assert whole.contains(rect), f"{text!r} is outside the frame at {share:.2f}"
        for (a, one), (b, other) in combinations(placed, 2):
            assert not one.intersects(other), f"{a!r} and {b!r} overlap at {share:.2f}"
        texts = [m for m in shown.marks if isinstance(m, Texts) and m.strings]
        assert min(m.size for m in texts) >= LEAST_LETTER


def check_steps(story: Story) -> None:
    """Steps follow each other without a gap and end with the result."""
    steps = story.steps
    assert steps[0].start == 0
    assert all(abs(a.end - b.start) < 1e-9 for a, b in zip(steps, steps[1:], strict=False))
    assert all(s.end > s.start and s.label for s in steps)
    assert steps[-1].kind == "result"
    assert 8 <= story.duration <= 25
