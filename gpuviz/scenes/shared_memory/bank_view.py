"""What is written about a request to shared memory: its counters, wavefronts, conflict, hovers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpuviz.arrays import I64
from gpuviz.draw.ease import passed
from gpuviz.draw.figures import pill_width
from gpuviz.draw.heading import badge, label
from gpuviz.draw.layout import Rect, elide, first_fitting
from gpuviz.draw.marks import Mark
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.draw.ticks import ticks
from gpuviz.language import tr, trn
from gpuviz.scenes.measured import Timed, badge_of
from gpuviz.scenes.shared_memory.bank_request import BankRequest


def wavefronts(count: int) -> str:
    """`1 wavefront`, `8 wavefronts`."""
    return trn("{n} wavefront", "{n} wavefronts", count)


def lanes_named(lanes: I64) -> str:
    """`lane 3`, `lanes 0 to 7`, `lanes 0, 8, 16, 24`."""
    if len(lanes) == 1:
        return tr("lane {lane}", lane=int(lanes[0]))
    if len(lanes) > 2 and int(lanes[-1] - lanes[0]) == len(lanes) - 1:
        return tr("lanes {first} to {last}", first=int(lanes[0]), last=int(lanes[-1]))
    return tr("lanes {lanes}", lanes=", ".join(map(str, lanes.tolist())))


def board_height(stage: Stage) -> float:
    """Two lines of text and a row of wavefronts."""
    return stage.text(16) * 1.6 + stage.text(14) * 1.5 + 12 * stage.scale


def board(
    stage: Stage, area: Rect, request: BankRequest, served: float, time: Timed | None = None
) -> tuple[Mark, ...]:
    """Counters of the request under way, the conflict's cause, and one mark a wavefront.

    `time` is how long the launch took, where a GPU has run it. The room of all that stays empty
    while the stage asks for it.
    """
    if stage.asks:
        return ()
    top, rest = area.above(stage.text(16) * 1.6)
    middle, low = rest.above(stage.text(14) * 1.5)
    marks = Rect(low.x, low.y + 2, low.width, low.height - 2)
    size, palette = stage.text(14), stage.palette
    text = elide(_cause(request, served, middle.width, size), middle.width, size)
    color = palette.warn if request.worst else palette.muted
    return (
        *_counters(stage, top, request, served, time),
        label(middle.x, middle.center[1], text, color, size),
        *ticks(stage, marks, request.count, request.ideal, served),
    )


def _counters(
    stage: Stage, area: Rect, request: BankRequest, served: float, time: Timed | None
) -> tuple[Mark, ...]:
    """Wavefronts so far, and how few there could be; from the model."""
    palette, size = stage.palette, stage.text(16)
    done = passed(served)
    whole = tr("{done} of {all}", done=done, all=wavefronts(request.count))
    color = palette.good if request.count <= request.ideal else palette.accent
    y, x = area.center[1], area.x
    ideal = tr("ideal {count}", count=request.ideal)
    pill = text_width(tr("model"), stage.text(13)) + stage.text(13) * 1.2
    marks: list[Mark] = [label(x, y, whole, color, size, bold=True)]
    x += text_width(whole, size, True) + size * 1.5
    if x + text_width(ideal, size) < area.right - pill - size:
        marks.append(label(x, y, ideal, palette.muted, size))
        x += text_width(ideal, size) + size * 1.5
    if time is not None:
        text, word = tr("launch {time}", time=time.text), badge_of([time])
        room = text_width(text, size) + pill_width(stage, word) + size * 0.5
        if x + room < area.right - pill - size:
            marks.append(label(x, y, text, palette.ink, size))
            x += text_width(text, size) + size * 0.5
            marks += badge(stage, x, y, word, palette.good)
    return *marks, *badge(stage, area.right - pill, y, tr("model"), palette.accent)


def _cause(request: BankRequest, served: float, width: float, size: float) -> str:
    """Why it takes as many wavefronts as it does, in as many words as there is room for."""
    grouped = _group(request, served)
    if request.worst is None:
        shared = int(request.brought.shared.any())
        free = (
            tr("no bank conflict: a word that several lanes want is fetched once")
            if shared
            else tr("no bank conflict")
        )
        return (
            first_fitting((f"{free} · {grouped}", free, tr("no bank conflict")), width, size)
            if grouped
            else free
        )
    lanes = lanes_named(request.worst.lanes)
    ways = tr(
        "{ways}-way conflict in bank {bank}", ways=request.worst.degree, bank=request.worst.bank
    )
    forms = (f"{ways}: {lanes} · {grouped}", f"{ways}: {lanes}") if grouped else ()
    return first_fitting((*forms, f"{ways}: {lanes}"), width, size) or f"{ways}: {lanes}"


def _group(request: BankRequest, served: float) -> str:
    """Which group of lanes is being served, where there are several."""
    if len(request.groups) < 2:
        return ""
    wave = min(int(served), request.count - 1)
    group = request.group_of(wave)
    if served <= 0 or served >= request.count or group < 0:
        return tr("{count} groups of lanes, one after the other", count=len(request.groups))
    return tr(
        "group {number} of {count}: {lanes}",
        number=group + 1,
        count=len(request.groups),
        lanes=lanes_named(request.groups[group]),
    )


def lane_tip(request: BankRequest) -> Callable[[int], str]:
    """What hovering a lane says."""

    def tip(lane: int) -> str:
        name = tr(
            "lane {lane} · thread {thread} of block {block}",
            lane=lane,
            thread=request.warp * 32 + lane,
            block=request.block,
        )
        if not request.active[lane]:
            return f"{name}\n" + tr("takes no part")
        mine = request.brought.lane == lane
        first = int(request.address[lane])
        where = tr(
            "bytes {first} to {last} of shared memory",
            first=first,
            last=first + request.instruction.width - 1,
        )
        banks = ", ".join(map(str, request.brought.bank[mine].tolist()))
        turns = ", ".join(str(t + 1) for t in np.unique(request.brought.turn[mine]).tolist())
        return f"{name}\n{where}\n" + tr(
            "bank {banks} · wavefront {turns}", banks=banks, turns=turns
        )

    return tip


def word_tip(request: BankRequest) -> Callable[[int], str]:
    """What hovering a word says; cells are numbered row by row."""
    brought = request.brought

    def tip(cell: int) -> str:
        row, bank = divmod(cell, brought.banks)
        word = int(brought.rows[row]) * brought.banks + bank
        name = tr(
            "word {word} · bytes {first} to {last} · bank {bank}",
            word=word,
            first=4 * word,
            last=4 * word + 3,
            bank=bank,
        )
        lanes = np.unique(brought.lane[brought.word == word])
        if not len(lanes):
            return f"{name}\n" + tr("no lane of this request asks for it")
        return f"{name}\n" + tr("for {lanes}", lanes=lanes_named(lanes))

    return tip
