"""What hovering a lane or a word of shared memory says."""

from __future__ import annotations

import numpy as np

from gpuviz.base.arrays import I64
from gpuviz.draw.marks import Tip
from gpuviz.memory.bank_request import BankRequest
from gpuviz.traces.trace import LANES
from gpuviz.words.language import tr


def lanes_named(lanes: I64) -> str:
    """`lane 3`, `lanes 0 to 7`, `lanes 0, 8, 16, 24`."""
    if len(lanes) == 1:
        return tr("lane {lane}", lane=int(lanes[0]))
    if len(lanes) > 2 and int(lanes[-1] - lanes[0]) == len(lanes) - 1:
        return tr("lanes {first} to {last}", first=int(lanes[0]), last=int(lanes[-1]))
    return tr("lanes {lanes}", lanes=", ".join(map(str, lanes.tolist())))


def lane_tip(request: BankRequest) -> Tip:
    """Whose it is, what it asks for, and the wavefronts that serve it."""

    def tip(lane: int) -> str:
        name = tr(
            "lane {lane} · thread {thread} of block {block}",
            lane=lane,
            thread=request.warp * LANES + lane,
            block=request.block,
        )
        if not request.active[lane]:
            return f"{name}\n" + tr("takes no part")
        mine, first = request.brought.lane == lane, int(request.address[lane])
        where = tr(
            "bytes {first} to {last} of shared memory",
            first=first,
            last=first + request.instruction.width - 1,
        )
        banks = ", ".join(map(str, request.brought.bank[mine].tolist()))
        turns = ", ".join(str(t + 1) for t in np.unique(request.brought.turn[mine]).tolist())
        served = tr("bank {banks} · wavefront {turns}", banks=banks, turns=turns)
        return f"{name}\n{where}\n{served}"

    return tip


def word_tip(request: BankRequest) -> Tip:
    """Where a word is, and the lanes that want it; words are numbered row by row."""
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
