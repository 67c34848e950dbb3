"""The same load in several memories, one below the other: lanes, the words they want, turns."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from gpuviz.arrays import F32, F64, I64
from gpuviz.draw.bands import bands, partly
from gpuviz.draw.ease import passed, smooth
from gpuviz.draw.figures import pill_width
from gpuviz.draw.heading import badge, label
from gpuviz.draw.layout import Rect, centers
from gpuviz.draw.marks import Boxes, Curves, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.draw.warp import lane_boxes, lane_row
from gpuviz.language import tr
from gpuviz.panels.ticks import Ticks
from gpuviz.scenes.shared_memory.served import Served
from gpuviz.trace import LANES

_EVERY = np.ones(LANES, dtype=bool)


def panels(
    stage: Stage, area: Rect, loads: Mapping[str, Served], sent: float, now: Mapping[str, float]
) -> tuple[Mark, ...]:
    """One panel a memory; `now` is how many turns each has served."""
    rows = area.rows(len(loads), stage.text(14) * 0.3)
    return tuple(
        mark
        for (space, load), row in zip(loads.items(), rows, strict=True)
        for mark in _panel(stage, row, space, load, sent, now[space])
    )


def _panel(
    stage: Stage, area: Rect, space: str, load: Served, sent: float, turns: float
) -> tuple[Mark, ...]:
    """Name and turns; lanes; bands; words."""
    size = stage.text(14)
    head, rest = area.above(size * 1.45)
    tall = min(24 * stage.scale, rest.height * 0.3)
    lanes = lane_boxes(Rect(rest.x, rest.y, rest.width, tall))
    words, place = np.unique(load.word, return_inverse=True)
    boxes = _word_boxes(Rect(rest.x, rest.bottom - tall - 3, rest.width, tall), len(words), stage)
    progress = np.clip(turns - load.turn, 0.0, 1.0)
    going = (progress > 0) & (progress < 1)
    return (
        *_head(stage, head, space, load, turns),
        *_bands(stage, lanes, boxes, place, sent, progress),
        *lane_row(stage, lanes, _EVERY, going, _tip(space, load)),
        *_words(stage, boxes, words, place, load, progress),
    )


def _head(stage: Stage, area: Rect, space: str, load: Served, turns: float) -> list[Mark]:
    """The memory's name, how many turns are over, a mark for each; these two are kept back while
    the stage asks for them.
    """
    palette, size, y = stage.palette, stage.text(14), area.y + stage.text(14) * 0.6
    name = {
        "constant": tr("constant memory"),
        "shared": tr("shared memory"),
        "global": tr("global memory"),
    }[space]
    done = tr("{done} of {all}", done=passed(turns), all=load.counted)
    if stage.asks:
        return [label(area.x, y, name, palette.ink, size, bold=True)]
    x = area.x + text_width(tr("constant memory"), size, True) + size
    room = max(text_width(done, size, True), size * 9) + size
    color = palette.accent if turns < load.count else palette.good
    pill = pill_width(stage, tr("model"))
    marks: list[Mark] = [
        label(area.x, y, name, palette.ink, size, bold=True),
        label(x, y, done, color, size, bold=True),
        *badge(stage, area.right - pill + size * 0.65, y, tr("model"), palette.accent),
    ]
    bar = Rect(x + room, y - size * 0.35, area.right - pill - x - room - size, size * 0.7)
    if bar.width > size * 6:
        marks += Ticks(load.count, load.ideal, turns).draw(stage, bar)
    return marks


def _word_boxes(area: Rect, count: int, stage: Stage) -> F32:
    """(W, 4) boxes spread evenly below the lanes."""
    pitch = area.width / count
    wide = min(pitch - (3.0 if pitch > 12 else 1.0), 46 * stage.scale)
    x = area.x + (np.arange(count) + 0.5) * pitch - wide / 2
    y, sizes = np.full(count, area.y), (np.full(count, wide), np.full(count, area.height))
    return np.stack([x, y, *sizes], axis=1).astype(np.float32)


def _bands(
    stage: Stage, lanes: F32, boxes: F32, place: I64, sent: float, progress: F64
) -> tuple[Mark, ...]:
    """Thin once asked for, full while a word comes, quiet afterwards."""
    palette = stage.palette
    start = np.stack([lanes[:, 0] + lanes[:, 2] / 2, lanes[:, 1] + lanes[:, 3] + 3], axis=1)
    word = boxes[place]
    end = np.stack([word[:, 0] + word[:, 2] / 2, word[:, 1] - 2], axis=1)
    curves = bands(start.astype(np.float32), end.astype(np.float32))
    going, done = (progress > 0) & (progress < 1), progress >= 1
    waits, thin = ~going & ~done, 1.2 * stage.scale
    asked = partly(curves[waits], np.full(int(waits.sum()), float(smooth(sent))))
    came = partly(curves[going][:, ::-1], smooth(np.minimum(progress[going] * 2, 1.0)))
    return (
        Curves(asked, palette.soft(palette.lanes[waits], 0.6), thin),
        Curves(curves[done], palette.soft(palette.lanes[done], 0.35), thin),
        Curves(came, palette.lanes[going], 2.5 * stage.scale),
    )


def _words(
    stage: Stage, boxes: F32, words: I64, place: I64, load: Served, progress: F64
) -> tuple[Mark, ...]:
    """The words of the table with their numbers; those that come together share an outline."""
    palette = stage.palette
    share = np.array([progress[place == k].max() for k in range(len(words))])
    fill = palette.state(np.tile(palette.accent_soft, (len(words), 1)), share)
    edge = np.where((share >= 1)[:, None], palette.accent, palette.border).astype(np.uint8)
    going = (share > 0) & (share < 1)
    size = float(int(min(stage.text(13), boxes[0, 3] * 0.72)))
    widest = max(text_width(str(w), size, True) for w in words.tolist())
    ink = np.where((share > 0)[:, None], palette.ink, palette.muted).astype(np.uint8)
    numbers = tuple(str(w) for w in words.tolist())
    marks: list[Mark] = [
        Boxes(boxes, fill, stroke=edge, radius=3, tip=_word_tip(words, place, load)),
        Boxes(_together(boxes, going), stroke=palette.outline, stroke_width=2, radius=4),
    ]
    if size >= 12 and widest + 2 <= boxes[0, 2]:
        marks.append(Texts(centers(boxes), numbers, ink, size, "center", bold=True))
    return tuple(marks)


def _together(boxes: F32, going: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> F32:
    """One outline around each run of words that come in the same turn."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], going, [False]]).astype(int)))
    first, last = edges[::2], edges[1::2] - 1
    x, right = boxes[first, 0] - 2, boxes[last, 0] + boxes[last, 2] + 2
    y, high = boxes[first, 1] - 2, boxes[first, 3] + 4
    return np.stack([x, y, right - x, high], axis=1).astype(np.float32)


def _tip(space: str, load: Served) -> Callable[[int], str]:
    """What hovering a lane says."""

    def tip(lane: int) -> str:
        return tr(
            "lane {lane} reads word {word} · turn {turn} of {counted}",
            lane=lane,
            word=int(load.word[lane]),
            turn=int(load.turn[lane]) + 1,
            counted=load.counted,
        )

    return tip


def _word_tip(words: I64, place: I64, load: Served) -> Callable[[int], str]:
    """What hovering a word says."""

    def tip(index: int) -> str:
        lanes = np.flatnonzero(place == index)
        turns = np.unique(load.turn[lanes]) + 1
        return tr(
            "word {word} · for {count} lanes · turn {turns}",
            word=int(words[index]),
            count=len(lanes),
            turns=", ".join(map(str, turns.tolist())),
        )

    return tip
