"""The board under a request's picture: counters that tick, and a bar of bytes for each request."""

from __future__ import annotations

import numpy as np

from gpuviz.arrays import Rgba
from gpuviz.draw.heading import badge, label
from gpuviz.draw.layout import Rect, first_fitting
from gpuviz.draw.marks import Boxes, Mark
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.language import tr, trn
from gpuviz.memory.request import Request
from gpuviz.memory.transaction_names import in_bytes
from gpuviz.scenes.request.story import Act

_Piece = tuple[str, Rgba, bool]


def counters_height(stage: Stage) -> float:
    """The height of the line of counters."""
    return stage.text(16) * 1.9


def board_height(stage: Stage, rows: int) -> float:
    """The height of the counters and of so many bars."""
    return counters_height(stage) + rows * stage.text(14) * 1.75


def board(
    stage: Stage, area: Rect, acts: tuple[Act, ...], index: int, t: float
) -> tuple[Mark, ...]:
    """The counters of the request under way, and a bar of bytes for each request.

    Its room stays empty while the stage asks for what it tells.
    """
    if stage.asks:
        return ()
    above, rest = area.above(counters_height(stage))
    size = stage.text(14)
    names = [_name(a.request) for a in acts]
    room = max(text_width(n, size) for n in names) + size
    most = max(a.request.moved for a in acts)
    marks = [*counters(stage, above, acts[index], t)]
    for act, name, row in zip(acts, names, rest.rows(len(acts), size * 0.35), strict=True):
        color = stage.palette.ink if act is acts[index] else stage.palette.muted
        marks.append(label(row.x, row.center[1], name, color, size))
        bar = row.beside(room)[1]
        length = bar.width * act.request.moved / most
        marks += _bar(stage, Rect(bar.x, bar.y, length, bar.height), act, t)
    return tuple(marks)


def _name(request: Request) -> str:
    """What a bar is called."""
    if request.is_store:
        return tr("store {name}", name=request.name)
    return tr("load {name}", name=request.name)


def counters(stage: Stage, area: Rect, act: Act, t: float) -> tuple[Mark, ...]:
    """Requests, transactions, lines: ticking; and that they come from the model.

    They are kept back while the stage asks for them.
    """
    if stage.asks:
        return ()
    request, palette, size = act.request, stage.palette, stage.text(16)
    done = act.delivered(t)
    whole = _progress(request, done)
    pieces = (
        (tr("1 request"), palette.ink, False),
        (whole, palette.accent, True),
        (_lines(request, done), palette.ink, False),
        (tr("ideal {n}", n=request.ideal), palette.muted, False),
    )
    word = tr("model")
    pill = text_width(word, stage.text(13)) + stage.text(13) * 1.2
    marks: list[Mark] = [*badge(stage, area.right - pill, area.center[1], word, palette.accent)]
    x = area.x
    for text, color, bold in _that_fit(pieces, area.width - pill, size):
        marks.append(label(x, area.center[1], text, color, size, bold))
        x += text_width(text, size, bold) + size * 1.5
    return tuple(marks)


def _progress(request: Request, done: int) -> str:
    """How many transactions are over."""
    every = request.counted(request.count)
    if request.is_store:
        return tr("{done} of {all} written", done=done, all=every)
    return tr("{done} of {all} delivered", done=done, all=every)


def _lines(request: Request, done: int) -> str:
    """How many of the 128-byte lines have been touched."""
    lines = len(np.unique(request.line[request.turn < done]))
    every = int(request.line.max()) + 1
    return trn("{done} of {n} line", "{done} of {n} lines", every, done=lines)


def _that_fit(pieces: tuple[_Piece, ...], width: float, size: float) -> tuple[_Piece, ...]:
    """All pieces, or fewer, down to the second one alone or its first words, that fit in a row."""
    choices = (pieces, pieces[:3], pieces[:2], pieces[1:2])
    spaces = (sum(text_width(t, size, b) + size * 1.5 for t, _, b in few) for few in choices)
    fitting = next((few for few, w in zip(choices, spaces, strict=True) if w <= width), None)
    if fitting is not None:
        return fitting
    text, color, bold = pieces[1]
    words = text.split()
    fewer = (" ".join(words[:n]) for n in range(len(words), 0, -1))
    short = next((t for t in fewer if text_width(t, size, bold) + size <= width), words[0])
    return ((short, color, bold),)


def _bar(stage: Stage, bar: Rect, act: Act, t: float) -> list[Mark]:
    """Bytes used, solid, then bytes moved for nothing, hatched; grown as far as delivered."""
    palette, request = stage.palette, act.request
    done = request.turn < act.delivered(t)
    scale = bar.width / request.moved
    used, wasted = request.used * scale, (request.moved - request.used) * scale
    now = float(request.strip.used[done].sum()) * scale
    lost = float((request.strip.size - request.strip.used)[done].sum()) * scale
    color = palette.store if request.is_store else palette.accent
    split = bar.x + used
    marks: list[Mark] = [
        Boxes(Rect(bar.x, bar.y, used, bar.height).array(), palette.todo(color)),
        Boxes(
            Rect(split, bar.y, wasted, bar.height).array(),
            palette.todo(palette.waste_ground),
            hatch=palette.todo(palette.waste),
        ),
        Boxes(Rect(bar.x, bar.y, now, bar.height).array(), color),
        Boxes(
            Rect(split, bar.y, lost, bar.height).array(), palette.waste_ground, hatch=palette.waste
        ),
    ]
    return marks + _bar_words(stage, bar, split, request, palette.todo(color))


def _bar_words(stage: Stage, bar: Rect, split: float, request: Request, plate: Rgba) -> list[Mark]:
    """What the two parts of a bar stand for, in as many words as there is room for."""
    size, palette = stage.text(14), stage.palette
    wasted = request.moved - request.used
    used, lost = _used(request), _lost(request)
    inside = text_width(used, size, True) + size <= split - bar.x
    marks: list[Mark] = []
    if inside or not wasted:
        x, color = (bar.x, palette.ink) if inside else (bar.right, palette.muted)
        marks += _plate(stage, bar, x + size * 0.3, used, color, plate if inside else None)
    forms = (lost if inside else f"{used}, {lost}", lost, in_bytes(wasted), f"{wasted}")
    room = bar.right - split - size * 1.8
    text = first_fitting(forms, room, size, bold=True) if wasted else ""
    if text:
        x = bar.right - text_width(text, size, True) - size * 0.9
        marks += _plate(stage, bar, x, text, palette.warn, palette.waste_ground)
    return marks


def _used(request: Request) -> str:
    """What the solid part of a bar says."""
    count = in_bytes(request.used)
    if request.is_store:
        return tr("{bytes} written", bytes=count)
    return tr("{bytes} used", bytes=count)


def _lost(request: Request) -> str:
    """What the hatched part of a bar says."""
    count = in_bytes(request.moved - request.used)
    if request.is_store:
        return tr("{bytes} touched for nothing", bytes=count)
    return tr("{bytes} fetched for nothing", bytes=count)


def _plate(
    stage: Stage, bar: Rect, x: float, text: str, color: Rgba, fill: Rgba | None
) -> list[Mark]:
    """Words on a plate of their own, to be read whatever the bar behind them does."""
    size = stage.text(14)
    width = text_width(text, size, True) + size * 0.6
    plate = Boxes(Rect(x, bar.y + 2, width, bar.height - 4).array(), fill)
    return [plate, label(x + size * 0.3, bar.center[1], text, color, size, bold=True)]
