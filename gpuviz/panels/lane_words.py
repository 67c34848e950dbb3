"""Lanes, the words they want below them, and the turns in which these come."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from gpuviz.arrays import F32, F64, I64, Bool
from gpuviz.draw.bands import bands, partly
from gpuviz.draw.ease import smooth
from gpuviz.draw.layout import Rect, centers
from gpuviz.draw.marks import Boxes, Curves, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.draw.warp import lane_boxes, lane_row
from gpuviz.language import tr, trn
from gpuviz.panels.panel import Need, Panel
from gpuviz.trace import LANES

_LEAST = 4.0  # letters high
_WIDEST = 46.0  # pixels of a word at scale 1
_NUMBER = 12  # least size of a word's number


@dataclass(frozen=True, eq=False)
class LaneWords(Panel):
    """A load of one word a lane.

    Attributes
    ----------
    word : (32,) the word that each lane wants
    turn : (32,) the turn that brings it
    turns : how many there are, in words: `8 passes`
    sent : how much of the request has gone out, 0 to 1
    served : turns that are over, the fraction being the one under way
    """

    share: ClassVar[float] = 1.0
    word: I64
    turn: I64
    turns: str
    sent: float
    served: float

    @cached_property
    def words(self) -> tuple[I64, I64]:
        """(W,) different words, and (32,) which of them each lane wants."""
        return np.unique(self.word, return_inverse=True)

    @cached_property
    def progress(self) -> F64:
        """(32,) how far each lane has been served."""
        return np.clip(self.served - self.turn, 0.0, 1.0)

    def need(self, stage: Stage, width: float) -> Need:
        """Two rows of boxes, and bands between them."""
        return Need(_LEAST * stage.text(14), _LEAST * stage.text(14))

    def draw(self, stage: Stage, area: Rect) -> Iterator[Mark]:
        """Bands, lanes, words."""
        tall = min(24 * stage.scale, area.height * 0.3)
        lanes = lane_boxes(area._replace(height=tall))
        boxes = self._boxes(stage, area._replace(y=area.bottom - tall - 3, height=tall))
        going = (self.progress > 0) & (self.progress < 1)
        yield from self._bands(stage, lanes, boxes[self.words[1]], going)
        yield from lane_row(stage, lanes, np.ones(LANES, bool), going, self._lane_tip)
        yield from self._words(stage, boxes)

    def _boxes(self, stage: Stage, area: Rect) -> F32:
        """(W, 4) boxes of the words, spread evenly below the lanes."""
        count = len(self.words[0])
        pitch = area.width / count
        wide = min(pitch - (3.0 if pitch > 12 else 1.0), _WIDEST * stage.scale)
        x = area.x + (np.arange(count) + 0.5) * pitch - wide / 2
        rest = (np.full(count, v) for v in (area.y, wide, area.height))
        y, width, height = rest
        return np.stack([x, y, width, height], axis=1).astype(np.float32)

    def _bands(self, stage: Stage, lanes: F32, word: F32, going: Bool) -> Iterator[Mark]:
        """Thin once asked for, full while a word comes, quiet afterwards."""
        palette, done = stage.palette, self.progress >= 1
        start = np.stack([lanes[:, 0] + lanes[:, 2] / 2, lanes[:, 1] + lanes[:, 3] + 3], axis=1)
        end = np.stack([word[:, 0] + word[:, 2] / 2, word[:, 1] - 2], axis=1)
        curves = bands(start.astype(np.float32), end.astype(np.float32))
        waits, thin = ~going & ~done, 1.2 * stage.scale
        asked = partly(curves[waits], np.full(int(waits.sum()), float(smooth(self.sent))))
        share = smooth(np.minimum(self.progress[going] * 2, 1.0))
        yield Curves(asked, palette.soft(palette.lanes[waits], 0.6), thin)
        yield Curves(curves[done], palette.soft(palette.lanes[done], 0.35), thin)
        came = partly(curves[going][:, ::-1], share)
        yield Curves(came, palette.lanes[going], 2.5 * stage.scale)

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
        return tr(
            "lane {lane} reads word {word} · turn {turn} of {counted}",
            lane=lane,
            word=int(self.word[lane]),
            turn=int(self.turn[lane]) + 1,
            counted=self.turns,
        )

    def _word_tip(self, index: int) -> str:
        words, which = self.words
        turns = np.unique(self.turn[which == index]) + 1
        return trn(
            "word {word} · for {n} lane · turn {turns}",
            "word {word} · for {n} lanes · turn {turns}",
            int((which == index).sum()),
            word=int(words[index]),
            turns=", ".join(map(str, turns.tolist())),
        )


def _runs(boxes: F32, going: Bool) -> F32:
    """One outline around each run of neighbours that are under way."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], going, [False]]).astype(int)))
    first, last = boxes[edges[::2]], boxes[edges[1::2] - 1]
    x, right = first[:, 0] - 2, last[:, 0] + last[:, 2] + 2
    return np.stack([x, first[:, 1] - 2, right - x, first[:, 3] + 4], axis=1).astype(np.float32)
