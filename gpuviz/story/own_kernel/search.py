"""Moments of a run found by words: `line 12`, `store conflict`, `warp 3 barrier`, a buffer's name.

Words narrow each other down; what costs a count of all requests is counted once.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from gpuviz.base.arrays import F64, Bool
from gpuviz.base.errors import InputError
from gpuviz.memory.banks import wavefronts
from gpuviz.memory.coalescing import transactions
from gpuviz.story.lesson import Search
from gpuviz.story.own_kernel.events import Events
from gpuviz.story.script import KINDS, LongSteps
from gpuviz.traces.trace import MemoryInstruction, lane_mask
from gpuviz.words.language import tr

_AT_ONCE = 1 << 13  # requests counted at once, each of which takes kilobytes meanwhile
_WORD = re.compile(r"(line|warp|lane|phase|turn)\s*(\d+)|#(\d+)|(0x[0-9a-f]+)|(\S+)")
Test = Callable[[MemoryInstruction], bool]

# What an instruction is, by the words for it.
_OF_INSTRUCTIONS: dict[str, Test] = {
    "load": lambda did: did.op == "load",
    "store": lambda did: did.op == "store",
    "atomic": lambda did: did.op in ("atomic", "reduction"),
    "copy": lambda did: did.op == "copy",
    "global": lambda did: did.space == "global",
    "shared": lambda did: did.space == "shared",
    "local": lambda did: did.space == "local",
    "constant": lambda did: did.space == "constant",
}


def search(events: Events, steps: LongSteps) -> Search:
    """What finds moments of events on their time line."""
    tests = _Tests(events)

    def find(text: str) -> F64:
        return np.asarray(steps.stops[np.flatnonzero(tests.of(text))])

    return Search(tr("find: line 12, store, barrier, conflict, uncoalesced …"), find)


class _Tests:
    """Which events words mean."""

    def __init__(self, events: Events) -> None:
        self._events = events
        self._excess = lru_cache(maxsize=1)(lambda: _excess(events))

    def of(self, text: str) -> Bool:
        """(N,) the events that all words mean."""
        fits: Bool = np.ones(len(self._events), bool)
        turn = 0
        for named, count, place, address, word in _WORD.findall(text.lower()):
            if named == "turn":
                turn = int(count)
            elif place:
                fits &= self._place(int(place))
            elif address:
                fits &= self._address(int(address, 16))
            else:
                fits &= self._word(named or word, count)
        if turn:  # of all that fit
            fits &= np.cumsum(fits) == turn
        return fits

    def _address(self, address: int) -> Bool:
        """Requests in which a lane touches an address."""
        rows = self._events.rows
        width = np.array([did.width for did in self._events.trace.instructions], np.uint64)
        low = np.uint64(max(address - 31, 0))
        near = np.flatnonzero(((rows.address >= low) & (rows.address <= np.uint64(address))).any(1))
        end = rows.address[near] + width[rows.instruction[near]][:, None]
        hit = (rows.address[near] <= np.uint64(address)) & (np.uint64(address) < end)
        fits: Bool = np.zeros(len(rows), bool)
        fits[near] = (hit & lane_mask(rows.active[near])).any(axis=1)
        return self._rows(fits)

    def _place(self, number: int) -> Bool:
        """One event by its number, from 1."""
        fits: Bool = np.zeros(len(self._events), bool)
        fits[number - 1 : number] = number > 0
        return fits

    def _word(self, word: str, number: str) -> Bool:
        events = self._events
        if word.isdigit() or (word == "line" and number):
            return np.asarray(events.lines == int(number or word))
        if word == "barrier":
            return np.asarray(events.kinds == KINDS.index("barrier"))
        if word == "phase" and number:
            return np.asarray(events.phase == int(number))
        if word.rstrip("s") in _OF_INSTRUCTIONS:
            test = _OF_INSTRUCTIONS[word.rstrip("s")]
            return self._rows(self._by_instruction(test))
        if word.rstrip("s") == "conflict":
            return self._excessive("shared")
        if word == "uncoalesced":
            return self._excessive("global")
        return self._other(word, number)

    def _other(self, word: str, number: str) -> Bool:
        rows = self._events.rows
        if word == "warp" and number:
            return self._rows(rows.warp == int(number))
        if word == "lane" and number:
            return self._rows((rows.active >> np.uint32(min(int(number), 31))) & np.uint32(1) != 0)
        if word == "partial":
            return self._rows(rows.active != np.uint32(0xFFFFFFFF))
        for buffer in self._events.trace.launch.buffers:
            if buffer.name.lower() == word:
                low, high = np.uint64(buffer.address), np.uint64(buffer.address + buffer.size)
                first = rows.address.max(axis=1, initial=0)
                return self._rows((first >= low) & (first < high))
        names = ", ".join(b.name for b in self._events.trace.launch.buffers)
        raise InputError(
            tr(
                "{word} cannot be looked for: try line 12, load, store, atomic, barrier, shared, "
                "global, conflict, uncoalesced, partial, warp 3, lane 5, phase 2, turn 4, #100, or "
                "a buffer: {names}",
                word=repr(word),
                names=names,
            )
        )

    def _by_instruction(self, test: Test) -> Bool:
        """(R,) the requests of some instructions."""
        each = np.array([test(did) for did in self._events.trace.instructions], bool)
        which = self._events.rows.instruction
        return np.asarray(each[which]) if len(which) else np.zeros(0, bool)

    def _rows(self, of_rows: Bool) -> Bool:
        """(N,) from what is known of the (R,) requests; barriers are none."""
        row = self._events.row
        if not len(of_rows):
            return np.zeros(len(row), bool)
        return np.asarray((row >= 0) & of_rows[row])

    def _excessive(self, space: str) -> Bool:
        """Requests to a space that cost more than as many lanes in a row would."""
        return self._rows(self._excess() & self._by_instruction(lambda did: did.space == space))


def _excess(events: Events) -> Bool:
    """(R,) requests that take more wavefronts, or transactions, than the same lanes need."""
    rows, found = events.rows, np.zeros(len(events.rows), bool)
    for number, did in enumerate(events.trace.instructions):
        if did.space not in ("shared", "global"):
            continue
        places = np.flatnonzero(rows.instruction == np.int32(number))
        for start in range(0, len(places), _AT_ONCE):
            some = places[start : start + _AT_ONCE]
            address, active = rows.address[some], lane_mask(rows.active[some])
            if did.space == "shared":
                cost = wavefronts(events.arch, address, active, did.width, did.op)
                found[some] = cost.count > cost.ideal
            else:
                moved = transactions(events.arch, address, active, did.width, did.op, did.path)
                found[some] = moved.count > moved.ideal
    return found
