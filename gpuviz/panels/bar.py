"""A bar: solid what is of use, hatched what is not, dim what is to come of both."""

from collections.abc import Iterator
from dataclasses import dataclass

from gpuviz.base.arrays import F32, Rgba
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Boxes, Mark
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Ink


@dataclass(frozen=True)
class Bar:
    """`used` is of use, `lost` is not; `came` says how much of each is there already, 0 to 1.

    `ink` None leaves the colour to where the bar stands.
    """

    used: float
    lost: float = 0.0
    came: tuple[float, float] = (1.0, 1.0)
    ink: Ink | None = None

    @property
    def whole(self) -> float:
        """Its length."""
        return self.used + self.lost

    def parts(self, area: Rect) -> tuple[Rect, Rect]:
        """The area of the whole bar, cut into what is of use and what is not."""
        return area.beside(area.width * self.used / self.whole if self.whole else 0.0)


def draw_bar(stage: Stage, bar: Bar, area: Rect, fill: Rgba, radius: float = 0) -> Iterator[Mark]:
    """The bar as long as the area, what is of use in the colour `fill`."""
    palette, (used, lost) = stage.palette, bar.parts(area)
    if bar.came[0] < 1:
        yield Boxes(used.array(), palette.todo(fill), radius=radius)
    yield Boxes(_first(used, bar.came[0]), fill, radius=radius)
    if lost.width <= 1:
        return
    ground, hatch = palette.waste_ground, palette.waste
    if bar.came[1] < 1:
        yield Boxes(lost.array(), palette.todo(ground), hatch=palette.todo(hatch))
    if bar.came[1] > 0:
        yield Boxes(_first(lost, bar.came[1]), ground, hatch=hatch)


def _first(area: Rect, share: float) -> F32:
    """The first part of an area."""
    return area._replace(width=area.width * share).array()
