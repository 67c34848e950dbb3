"""The stage a lesson is drawn on: its size, its colours, and how large its letters are."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from gpuviz.draw.axis import Axis, Scales, reaching
from gpuviz.draw.marks import Frame, Mark
from gpuviz.draw.palette import Palette

MARGIN = 20.0


@dataclass(frozen=True, eq=False)
class Stage:
    """A drawing area of `width` x `height` logical pixels.

    `scale` enlarges letters and the space around them (presenter mode); it never changes the size
    of the stage. A picture must fit whatever it is given.

    `question` is what the class is asked instead of being told; while there is one, a picture shows
    the pattern and none of the counts that answer it. `choices` are the answers to choose from.
    Once it is `revealed` the picture tells everything again, and keeps the room that the question
    took, so that nothing jumps. `headed` is the height of a question that stands above several
    pictures at once: they leave it free, and set no heading of their own. `grown` is how much
    larger its letters are than was asked for (see `roomy`). `scales` is how far scales reach at
    least: those of pictures beside this one (see `gpuviz.draw.axis`).
    """

    width: float
    height: float
    palette: Palette
    scale: float = 1.0
    question: str = ""
    choices: tuple[str, ...] = ()
    revealed: bool = False
    headed: float = 0.0
    grown: float = 1.0
    scales: Scales = field(default_factory=dict)

    @property
    def asks(self) -> bool:
        """Whether the counts are kept back: the class has not answered yet."""
        return bool(self.question) and not self.revealed

    def text(self, size: float) -> float:
        """The size, in whole pixels, in which to set text that is `size` high at scale 1."""
        return float(round(size * self.scale))

    def most(self, scale: str, own: float) -> float:
        """The largest value on a scale of this name, on which a picture has `own` itself."""
        shared = self.scales.get(scale, own)
        return own if isinstance(shared, Axis) else max(own, shared)

    def axis(self, scale: str, own: Axis) -> Axis:
        """The axis of this name, where a picture alone would have `own`."""
        shared = self.scales.get(scale)
        return reaching(own, shared) if isinstance(shared, Axis) else own

    @property
    def least(self) -> float:
        """How small letters may become where there is little room: as they were asked for."""
        return float(round(14 * self.scale / self.grown))

    def roomy(self) -> Stage:
        """The same stage with letters as large as its size allows: a wide stage is seen from afar.

        They grow with the stage, and never so far that a picture of 560 x 380 would not fit.
        """
        grown = self.scale * min(max(min(self.width / 960, self.height / 560), 1.0), 1.6)
        most = max(min(self.width / 560, self.height / 380), 1.0)
        scale = min(grown, most)
        return replace(self, scale=scale, grown=self.grown * scale / self.scale)

    @property
    def margin(self) -> float:
        """Space to leave free on every side."""
        return MARGIN * self.scale

    def frame(self, *marks: Mark) -> Frame:
        """A picture that fills the stage, on the palette's ground."""
        return Frame(self.width, self.height, self.palette.ground, marks)
