"""Which part of the picture is seen, how many times enlarged: an immutable record."""

from __future__ import annotations

from dataclasses import dataclass

MOST = 8.0
STEP = 1.25  # by a key, or a notch of the wheel


@dataclass(frozen=True)
class Zoom:
    """`factor` times enlarged; the point `left`, `top` of the picture is at the top left.

    It never leaves the picture: where nothing is enlarged all of it is seen.
    """

    factor: float = 1.0
    left: float = 0.0
    top: float = 0.0

    @property
    def on(self) -> bool:
        """Whether less than all of the picture is seen."""
        return self.factor > 1.0

    def inside(self, x: float, y: float) -> tuple[float, float]:
        """The point of the picture that is seen at a point of the view."""
        return self.left + x / self.factor, self.top + y / self.factor

    def about(self, x: float, y: float, by: float, width: float, height: float) -> Zoom:
        """So many times as large, what is at a point of the view staying there."""
        factor = min(max(self.factor * by, 1.0), MOST)
        if factor < 1.01:
            return Zoom()
        at_x, at_y = self.inside(x, y)
        return Zoom(factor, at_x - x / factor, at_y - y / factor).fitted(width, height)

    def moved(self, dx: float, dy: float, width: float, height: float) -> Zoom:
        """The picture dragged so far across the view."""
        left, top = self.left - dx / self.factor, self.top - dy / self.factor
        return Zoom(self.factor, left, top).fitted(width, height)

    def fitted(self, width: float, height: float) -> Zoom:
        """Kept within a picture of this size."""
        share = 1 - 1 / self.factor
        left = min(max(self.left, 0.0), width * share)
        top = min(max(self.top, 0.0), height * share)
        return Zoom(self.factor, left, top)
