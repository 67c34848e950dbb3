"""Single words in a picture: where they are anchored, and how they are set."""

from __future__ import annotations

import numpy as np

from gpuviz.base.arrays import F32, Rgba
from gpuviz.draw.marks import Align, Texts


def at(x: float, y: float) -> F32:
    """One anchor point, (1, 2)."""
    return np.array([[x, y]], np.float32)


def label(
    x: float,
    y: float,
    text: str,
    color: Rgba,
    size: float,
    bold: bool = False,
    align: Align = "left",
) -> Texts:
    """One line of text."""
    return Texts(at(x, y), (text,), color, size, align, bold)
