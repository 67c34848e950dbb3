"""Lanes, the words they want below them, the ports between, and the turns in which words come."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from gpuviz.base.arrays import F32, F64, I64, Bool
from gpuviz.draw.ease import smooth
from gpuviz.draw.layout import Rect, centers
from gpuviz.draw.marks import Boxes, Curves, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.draw.warp import bands, lane_boxes, lane_row, partly
from gpuviz.panels.panel import Need, Panel
from gpuviz.traces.trace import LANES
from gpuviz.words.language import tr, trn

_LEAST = 4.0  # letters high
_WIDEST = 46.0  # pixels of a word at scale 1
_NUMBER = 12  # least size of a word's number
_PORT, _FEW = 12.0, 8  # most pixels that ports are high; as wide as if there were so many at least


@dataclass(frozen=True, eq=False)
class LaneWords(Panel):
    """A load of one word a lane."""

    share: ClassVar[float] = 1.0
    word: I64  # (32,) the word that each lane wants
    turn: I64  # (32,) the turn that brings it
    turns: str  # how many there are, in words: `8 passes`
    sent: float  # how much of the request has gone out, 0 to 1
    served: float  # turns that are over, the fraction being the one under way
    # port, ports: (32,) the port that each lane's word leaves through, and how many ports there
    # are.
    port: I64 = field(default_factory=lambda: np.zeros(LANES, np.int64))
    ports: int = 1
    # (32,) the lanes that take part.
    active: Bool = field(default_factory=lambda: np.ones(LANES, bool))

    @cached_property
    def words(self) -> tuple[I64, I64]:
        """(W,) different words, and (32,) which of them each lane wants."""
        which = np.zeros(LANES, np.int64)
        words, which[self.active] = np.unique(self.word[self.active], return_inverse=True)
        return words, which

    @cached_property
    def progress(self) -> F64:
        """(32,) how far each lane has been served."""
        return np.where(self.active, np.clip(self.served - self.turn, 0.0, 1.0), 0.0)

    def need(self, stage: Stage, width: float) -> Need:
        """Two rows of boxes, ports, and bands between them."""
        return Need(_LEAST * stage.text(14), _LEAST * stage.text(14))

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Bands, lanes, words, and the ports that they leave through."""
        tall = min(24 * stage.scale, area.height * 0.3)
        lanes = lane_boxes(area._replace(height=tall))
        boxes = self._boxes(stage, area._replace(y=area.bottom - tall - 3, height=tall))
        free = boxes[0, 1] - lanes[0, 1] - tall
        low = min(_PORT * stage.scale, free * 0.2)
        ports = self._ports(area._replace(y=lanes[0, 1] + tall + free * 0.58, height=low))
        going = (self.progress > 0) & (self.progress < 1)
        yield from self._bands(stage, lanes, ports, boxes, going)
        yield from lane_row(stage, lanes, self.active, going, self._lane_tip)
        yield from self._gates(stage, ports, going)
        yield from self._words(stage, boxes)

    def _ports(self, area: Rect) -> F32:
        """(P, 4) boxes of the ports, side by side; a single one is in the middle."""
        pitch = area.width / max(self.ports, _FEW)
        wide = pitch - min(4.0, pitch * 0.25)
        middle = area.x + (np.arange(self.ports) + 0.5) * area.width / self.ports
        rest = (np.full(self.ports, v) for v in (area.y, wide, area.height))
        return np.stack([middle - wide / 2, *rest], axis=1).astype(np.float32)

    def _gates(self, stage: Stage, ports: F32, going: Bool) -> Iterator[Mark]:
        """The ports: those that a word leaves through now are open."""
        palette, busy = stage.palette, np.zeros(self.ports, bool)
        busy[self.port[going]] = True
        edge = np.where(busy[:, None], palette.outline, palette.border).astype(np.uint8)
        yield Boxes(ports, palette.panel, stroke=edge, radius=3, tip=self._port_tip)
        yield Boxes(ports[busy], palette.accent, radius=3)

    def _boxes(self, stage: Stage, area: Rect) -> F32:
        """(W, 4) boxes of the words, spread evenly below the lanes."""
        count = len(self.words[0])
        pitch = area.width / count
        wide = min(pitch - (3.0 if pitch > 12 else 1.0), _WIDEST * stage.scale)
        x = area.x + (np.arange(count) + 0.5) * pitch - wide / 2
        rest = (np.full(count, v) for v in (area.y, wide, area.height))
        y, width, height = rest
        return np.stack([x, y, width, height], axis=1).astype(np.float32)

    def _bands(
        self, stage: Stage, lanes: F32, ports: F32, boxes: F32, going: Bool
    ) -> Iterator[Mark]:
        """Thin once asked for, full while a word comes, quiet afterwards: to a port, then past it.

        What comes is at the port after half of its turn.
        """
        palette, done, lane = stage.palette, self.progress >= 1, np.arange(LANES)
        port, word = ports[self.port], boxes[self.words[1]]
        middle = port[:, 0] + port[:, 2] / 2
        above = bands(_points(lanes, lanes[:, 1] + lanes[:, 3] + 3), _at(middle, port[:, 1]))
        below = bands(_at(middle, port[:, 1] + port[:, 3]), _points(word, word[:, 1] - 2))
        waits, thin, bold = self.active & ~going & ~done, 1.2 * stage.scale, 2.5 * stage.scale
        sent = float(smooth(self.sent)) * 2
        inks = palette.lanes, np.tile(palette.accent, (LANES, 1))
        shares = min(sent, 1.0), max(sent - 1.0, 0.0)
        for legs, ink, share in zip((above, below), inks, shares, strict=True):
            asked = partly(legs[waits], np.full(int(waits.sum()), share))
            yield Curves(asked, palette.soft(ink[waits], 0.6), thin, lanes=lane[waits])
            yield Curves(legs[done], palette.soft(ink[done], 0.35), thin, lanes=lane[done])
        came, first = self.progress[going] * 2, lane[going]
        out = partly(below[first][:, ::-1], smooth(np.minimum(came, 1.0)))
        yield Curves(out, inks[1][first], bold, lanes=first)
        past = came > 1
        into = partly(above[first[past]][:, ::-1], smooth(came[past] - 1.0))
        yield Curves(into, palette.lanes[first[past]], bold, lanes=first[past])

    def _words(self, stage: Stage, boxes: F32) -> Iterator[Mark]:
        """The words with their numbers; those that come together share an outline."""
        palette, (words, which) = stage.palette, self.words
        share = np.zeros(len(words))
        np.maximum.at(share, which, self.progress)
        fill = palette.state(np.tile(palette.accent_soft, (len(words), 1)), share)
        edge = np.where((share >= 1)[:, None], palette.accent, palette.border).astype(np.uint8)
        ink = np.where((share > 0)[:, None], palette.ink, palette.muted).astype(np.uint8)
        yield Boxes(boxes, fill, stroke=edge, radius=3, tip=self._word_tip)
        together = _runs(boxes, (share > 0) & (share < 1))
        yield Boxes(together, stroke=palette.outline, stroke_width=2, radius=4)
        size = float(int(min(stage.text(13), boxes[0, 3] * 0.72)))
        numbers = tuple(map(str, words.tolist()))
        widest = max(text_width(number, size, True) for number in numbers)
        if size >= _NUMBER and widest + 2 <= boxes[0, 2]:
            yield Texts(centers(boxes), numbers, ink, size, "center", bold=True)

    def _lane_tip(self, lane: int) -> str:
        if not self.active[lane]:
            return tr("lane {n} takes no part", n=lane)
        return tr(
            "lane {lane} reads word {word} · turn {turn} of {counted}",
            lane=lane,
            word=int(self.word[lane]),
            turn=int(self.turn[lane]) + 1,
            counted=self.turns,
        )

    def _port_tip(self, number: int) -> str:
        some = self.port == number
        return trn(
            "{n} word leaves here",
            "{n} words leave here, one after the other",
            len(np.unique(self.turn[some])),
        )

    def _word_tip(self, index: int) -> str:
        words, which = self.words
        turns = np.unique(self.turn[self.active & (which == index)]) + 1
        return trn(
            "word {word} · for {n} lane · turn {turns}",
            "word {word} · for {n} lanes · turn {turns}",
            int((self.active & (which == index)).sum()),
            word=int(words[index]),
            turns=", ".join(map(str, turns.tolist())),
        )


def _at(x: F32 | F64, y: F32 | F64) -> F32:
    """(N, 2) points."""
    return np.stack([x, y], axis=1).astype(np.float32)


def _points(boxes: F32, y: F32 | F64) -> F32:
    """(N, 2) points above or below the middles of boxes."""
    return _at(boxes[:, 0] + boxes[:, 2] / 2, y)


def _runs(boxes: F32, going: Bool) -> F32:
    """One outline around each run of neighbours that are under way."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], going, [False]]).astype(int)))
    first, last = boxes[edges[::2]], boxes[edges[1::2] - 1]
    x, right = first[:, 0] - 2, last[:, 0] + last[:, 2] + 2
    return np.stack([x, first[:, 1] - 2, right - x, first[:, 3] + 4], axis=1).astype(np.float32)
