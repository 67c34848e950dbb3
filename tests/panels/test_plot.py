from gpuviz.draw.axis import linear
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Lines, Texts
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.panels.plot import Curve, Plot

STAGE = Stage(1280, 720, DARK)
PANEL = Plot(
    linear(("words",), 0, 32, 8), linear(("passes",), 0, 32, 8), (Curve((0, 32), (0, 32)),)
)


def test_a_plot_never_stands_on_its_head() -> None:
    """In a small window the ends of its y axis had changed places."""
    for height in (40.0, 60.0, 80.0, 100.0, 126.0, 200.0):
        marks = list(PANEL.draw(STAGE, Rect(0, 0, 400, height)))
        sides = [m for m in marks if isinstance(m, Texts) and m.align == "right"]
        assert all(m.at[0, 1] > m.at[-1, 1] for m in sides)
        assert bool(sides) == any(isinstance(m, Lines) for m in marks) == (height >= 80)
