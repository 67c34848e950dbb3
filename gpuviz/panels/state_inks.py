"""What a warp does or waits for: words and colours of each state, and a key of them."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import Rgba
from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Boxes, Mark
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Need, Panel
from gpuviz.timing.warp_states import State
from gpuviz.words.language import later, percent, tr

# Words; then how a lane that is in the state is told.
NAMES: dict[State, str] = {
    State.ABSENT: later("no warp"),
    State.STARTS: later("starts"),
    State.ISSUE: later("issues"),
    State.DONE: later("done"),
    State.DEPENDENCE: later("dependence"),
    State.UNIT: later("special units"),
    State.SHARED: later("shared memory"),
    State.L1: later("L1"),
    State.L2: later("L2"),
    State.MEMORY: later("memory"),
    State.ATOMIC: later("atomics"),
    State.QUEUE: later("queue to L1"),
    State.PIPE: later("unit busy"),
    State.NOT_CHOSEN: later("not chosen"),
    State.BARRIER: later("barrier"),
    State.FETCH: later("instruction fetch"),
    State.TENSOR: later("tensor cores"),
}
TOLD: dict[State, str] = {
    State.ABSENT: later("no warp is resident"),
    State.STARTS: later("has come, and not begun"),
    State.ISSUE: later("issues"),
    State.DONE: later("has ended; others of its block have not"),
    State.DEPENDENCE: later("waits for a result that comes in a known time"),
    State.UNIT: later("waits for a special function, a shuffle or a constant"),
    State.SHARED: later("waits for shared memory"),
    State.L1: later("waits for L1"),
    State.L2: later("waits for L2"),
    State.MEMORY: later("waits for memory"),
    State.ATOMIC: later("waits for an atomic"),
    State.QUEUE: later("waits until L1 and shared memory have served others"),
    State.PIPE: later("waits until the unit has done what others asked"),
    State.NOT_CHOSEN: later("is ready; another warp goes first"),
    State.BARRIER: later("waits at a barrier for others"),
    State.FETCH: later("waits for its next instructions"),
    State.TENSOR: later("waits for tensor cores"),
}
# The colour of the palette, and how far it is moved towards the ground.
_INKS: dict[State, tuple[str, float]] = {
    State.ABSENT: ("cell", 0.6),
    State.STARTS: ("border", 0.3),
    State.ISSUE: ("good", 0.0),
    State.DONE: ("cell", 0.0),
    State.DEPENDENCE: ("compute", 0.0),
    State.UNIT: ("compute", 0.5),
    State.SHARED: ("shared", 0.0),
    State.L1: ("load", 0.65),
    State.L2: ("load", 0.4),
    State.MEMORY: ("load", 0.0),
    State.ATOMIC: ("shared", 0.55),
    State.QUEUE: ("bad", 0.15),
    State.PIPE: ("waste", 0.0),
    State.NOT_CHOSEN: ("accent_soft", 0.0),
    State.BARRIER: ("barrier", 0.0),
    State.FETCH: ("faint", 0.35),
    State.TENSOR: ("compute", 0.7),
}


def colors(stage: Stage) -> Rgba:
    """(states, 4) the colour of each state."""
    palette = stage.palette
    return np.stack(
        [palette.soft(getattr(palette, ink), soft) for ink, soft in map(_INKS.__getitem__, State)]
    )


@dataclass(frozen=True, eq=False)
class StateKey(Panel):
    """The states there are, with their `shares` (states,) of all warps' time; most first."""

    shares: tuple[float, ...]

    def need(self, stage: Stage, width: float) -> Need:
        """As many lines as they take, two at the most."""
        high = stage.text(14) * 1.6
        lines = 1 + (len(self._placed(stage, width, 1)) < len(self._shown()))
        return Need(high * lines, high)

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """A box, a word and a share each."""
        size, inks = stage.text(14), colors(stage)
        lines = max(int(area.height / (size * 1.5)), 1)
        for x, row, state, name, part in self._placed(stage, area.width, lines):
            y = area.y + size * (0.8 + 1.6 * row)
            box = np.array([[area.x + x, y - size * 0.4, size * 0.8, size * 0.8]], np.float32)
            yield Boxes(box, inks[state], stroke=stage.palette.border, radius=2)
            x += area.x + size * 1.15
            yield label(x, y, name, stage.palette.muted, size)
            if not stage.asks:
                wide = text_width(f"{name} ", size)
                yield label(x + wide, y, part, stage.palette.muted, size)

    def _shown(self) -> list[State]:
        found = [s for s in State if s != State.ABSENT and self.shares[s] >= 0.0005]
        return sorted(found, key=lambda s: -self.shares[s])

    def _placed(
        self, stage: Stage, width: float, lines: int
    ) -> list[tuple[float, int, State, str, str]]:
        """Where each stands that has room: x, line, state, word, share."""
        size, x, row = stage.text(14), 0.0, 0
        found = []
        for state in self._shown():
            name, part = tr(NAMES[state]), percent(self.shares[state])
            part = "< 1 %" if part == percent(0) else part
            wide = text_width(f"{name} {part}", size) + size * 1.15
            if x + wide > width:
                x, row = 0.0, row + 1
            if row >= lines:
                break
            found.append((x, row, state, name, part))
            x += wide + size * 1.1
        return found
