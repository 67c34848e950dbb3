"""What a warp does or waits for: words and colours of each state, and a key of them."""

from collections.abc import Iterator, Mapping
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
from gpuviz.words.language import percent, texts, tr

_TABLE = {State[name]: row for name, row in texts("states").items()}
NAMES: Mapping[State, str] = {state: row["name"] for state, row in _TABLE.items()}
TOLD: Mapping[State, str] = {state: row["told"] for state, row in _TABLE.items()}
"""How a lane that is in a state is told."""


def colors(stage: Stage) -> Rgba:
    """(states, 4) the colour of each state."""
    palette = stage.palette
    rows = map(_TABLE.__getitem__, State)
    return np.stack([palette.soft(getattr(palette, row["ink"]), row["soft"]) for row in rows])


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
