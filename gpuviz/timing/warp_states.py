"""What each resident warp does or waits for at any cycle, from what a simulation recorded."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise

import numpy as np

from gpuviz.base.arrays import F64, I32, I64, Bool
from gpuviz.timing.multiprocessor import IssueLog, Work
from gpuviz.timing.schedule import BULK, Code, Kind, Pipe

_LATE = 100.0  # cycles after L1 has done: a hit whose line was still on its way


class State(IntEnum):
    """What a place does. All but the first four are reasons to wait.

    ABSENT no warp is resident, STARTS it is and has not begun, ISSUE an instruction is issued, DONE
    the warp has ended and others of its block have not; DEPENDENCE an operand is not there yet, as
    the assembler knew, UNIT nor that of a special function, shuffle, or constant, TENSOR nor that
    of an asynchronous product; SHARED, L1, L2, MEMORY, ATOMIC: what was asked of these is not
    there; QUEUE L1 and shared memory have enough to do; PIPE the unit is busy; NOT_CHOSEN another
    warp goes first; BARRIER others have not come; FETCH the instruction is not at hand.
    """

    ABSENT = 0
    STARTS = 1
    ISSUE = 2
    DONE = 3
    DEPENDENCE = 4
    UNIT = 5
    SHARED = 6
    L1 = 7
    L2 = 8
    MEMORY = 9
    ATOMIC = 10
    QUEUE = 11
    PIPE = 12
    NOT_CHOSEN = 13
    BARRIER = 14
    FETCH = 15
    TENSOR = 16


HELD = (State.QUEUE, State.PIPE, State.NOT_CHOSEN, State.FETCH)  # the next instruction is
WAITS = tuple(state for state in State if state > State.DONE)
FAR = (State.L1, State.L2, State.MEMORY, State.ATOMIC)  # results of global memory, from where


@dataclass(frozen=True, eq=False)
class Spans:
    """What places do (S,): place p from `start` to `end` is in `state`, by the row `first[p]` to
    `first[p + 1]` in the order of cycles; between spans nothing is resident. `event` is the
    instruction issued, the one that is held back (`HELD`), else the last one before; `cause` the
    one that is waited for (-1: none).
    """

    start: I32
    end: I32
    place: I32
    state: I32
    event: I32
    cause: I32
    first: I64

    def at(self, place: int, cycle: float) -> int:
        """The span of a place at a cycle, -1 for none."""
        a, b = int(self.first[place]), int(self.first[place + 1])
        found = a + int(np.searchsorted(self.start[a:b], cycle, side="right")) - 1
        return found if found >= a and cycle < self.end[found] else -1

    def only(self, places: int) -> Spans:
        """Those of the first places."""
        count = int(self.first[places])
        return Spans(
            self.start[:count],
            self.end[:count],
            self.place[:count],
            self.state[:count],
            self.event[:count],
            self.cause[:count],
            self.first[: places + 1],
        )

    def within(self, begin: float, end: float) -> I64:
        """The rows that have a part between two cycles."""
        found = [np.zeros(0, np.int64)]
        for a, b in pairwise(self.first.tolist()):
            low = a + int(np.searchsorted(self.end[a:b], begin, side="right"))
            high = a + int(np.searchsorted(self.start[a:b], end, side="left"))
            found.append(np.arange(low, high))
        return np.concatenate(found)

    def time_in(self, begin: float, end: float) -> F64:
        """(states,) cycles that all places together spend in each state between two cycles."""
        some = self.within(begin, end)
        taken = np.minimum(self.end[some], end) - np.maximum(self.start[some], begin)
        return np.bincount(self.state[some], taken, len(State)).astype(np.float64)

    def mostly(self, begin: float, end: float, columns: int) -> I32:
        """(places, columns) the state in which a place is most of each column's cycles."""
        places, some = len(self.first) - 1, self.within(begin, end)
        wide = (end - begin) / columns
        low = np.clip((self.start[some] - begin) / wide, 0.0, columns)
        high = np.clip((self.end[some] - begin) / wide, 0.0, columns)
        left = np.minimum(low.astype(np.int64), columns - 1)
        right = np.minimum(high.astype(np.int64), columns - 1)
        row = (self.place[some].astype(np.int64) * len(State) + self.state[some]) * (columns + 1)
        size = places * len(State) * (columns + 1)
        # Whole columns are those between the first and the last of a span, whose parts are added.
        edges = np.bincount(row + left, minlength=size) - np.bincount(row + right, minlength=size)
        filled = np.cumsum(edges.reshape(-1, columns + 1), axis=1).ravel().astype(np.float64)
        filled += np.bincount(row + left, left - low, size)
        filled += np.bincount(row + right, high - right, size)
        by_state = filled.reshape(places, len(State), columns + 1)[:, :, :columns]
        by_state[:, State.ABSENT] = 1e-3
        return np.asarray(by_state.argmax(axis=1), np.int32)


def spans_of(
    log: IssueLog, work: Work, slots: int, resident: tuple[F64, F64], recorded: tuple[float, float]
) -> Spans:
    """The spans of all places of the slots; blocks are `resident` from, until (B,). All between two
    cycles is `recorded`: what a warp did before its first instruction there is not known, and after
    its last one as far as that instruction says.
    """
    code, (begun, ended), (since, last) = work.code, resident, recorded
    order = np.lexsort((log.at, log.number))
    following = np.append(order[1:], 0)
    number, at, place = log.number[order], log.at[order], log.place[order]
    final = np.append(number[1:] != number[:-1], True)
    head = np.append(True, final[:-1])
    block = number // work.warps
    over = final & ((code.kind[log.instruction[order]] == Kind.EXIT) | (ended[block] <= last))
    leaves = np.where(over, np.minimum(ended[block], last), last)
    until = np.where(final, leaves, log.at[following])
    free = np.ceil(np.where(final, log.left[order], log.free[following]))
    edges = _edges(log, order, np.where(over, at, free), until, over)
    held = np.where(final, log.next[order], log.instruction[following])
    cause = log.cause[order]
    states = np.empty((len(order), 7), np.int32)
    states[:, :4] = State.ISSUE, State.DEPENDENCE, State.FETCH, State.BARRIER
    states[:, 4] = _waited_for(cause, log, code)
    states[:, 5] = np.where(code.pipe[held] == Pipe.MIO, State.QUEUE, State.PIPE)
    states[:, 6] = np.where(over, State.DONE, State.NOT_CHOSEN)
    came, waits = _beginnings(log[order[head]], begun[block[head]], since, code)
    shape = states.shape
    columns = (
        np.append(edges[:, :-1].ravel(), came),
        np.append(edges[:, 1:].ravel(), at[head]),
        np.append(np.repeat(place, shape[1]), place[head]),
        np.append(states.ravel(), waits),
        np.append(_events(order, following, final, shape), order[head]),
        np.append(_causes(cause, shape), np.full(int(head.sum()), -1)),
    )
    start, end, place, state, event, by = (np.asarray(c, np.int32) for c in columns)
    keep = np.flatnonzero(end > start)
    keep = keep[np.lexsort((start[keep], place[keep]))]
    first = np.searchsorted(place[keep], np.arange(slots * work.warps + 1))
    return Spans(start[keep], end[keep], place[keep], state[keep], event[keep], by[keep], first)


def _edges(log: IssueLog, order: I64, free: F64, until: F64, over: Bool) -> F64:
    """(N, 8) where the steps of each instruction begin and end."""
    at = log.at[order]
    steps = (np.ceil(column[order]) for column in (log.paced, log.fetched, log.met, log.clear))
    edges = np.stack([at, at + 1, *steps, free, until], axis=1)
    edges[over, 2:7] = (at + 1)[over, None]
    return np.minimum(np.maximum.accumulate(edges, axis=1), np.maximum(until, at + 1)[:, None])


def _beginnings(heads: IssueLog, begun: F64, since: float, code: Code) -> tuple[F64, I32]:
    """From when, and what, places wait for before the first instructions recorded of their warps:
    of a warp that ran before it is known from when its operands were there.
    """
    ready, ran = np.ceil(heads.ready), begun < since
    held = np.where(code.pipe[heads.instruction] == Pipe.MIO, State.QUEUE, State.PIPE)
    waits = np.where(np.ceil(heads.free) > ready, held, State.NOT_CHOSEN)
    came = np.where(ran, np.maximum(ready, since), begun)
    return came, np.where(ran, waits, State.STARTS).astype(np.int32)


def _events(order: I64, following: I64, final: Bool, shape: tuple[int, ...]) -> I64:
    """What each step is about: the instruction issued, or the next one where that is held back."""
    found = np.repeat(order, shape[1]).reshape(shape)
    for step in (2, 5, 6):
        found[:, step] = np.where(final, order, following)
    return found.ravel()


def _causes(cause: I32, shape: tuple[int, ...]) -> I32:
    """The event that is waited for, at the one step where that is so."""
    found = np.full(shape, -1, np.int32)
    found[:, 4] = np.where(cause >= 0, cause >> 1, -1)
    return found.ravel()


def _waited_for(cause: I32, log: IssueLog, code: Code) -> I32:
    """(N,) what a warp waits for that waits for these events' results or operands."""
    event = np.maximum(cause >> 1, 0)
    instruction, far = log.instruction[event], log.dram[event] > 0
    kind, hand = code.kind[instruction], code.hands[instruction]
    load = np.isin(kind, (Kind.LOAD, Kind.LOCAL_LOAD, Kind.BYPASS))
    late = (log.missed[event] > 0) | (log.result[event] > log.end[event] + _LATE)
    found = np.full(len(cause), State.UNIT, np.int32)
    found[kind == Kind.SHARED] = State.SHARED
    found[kind == Kind.PRODUCT] = State.TENSOR
    found[kind == Kind.ATOMIC] = State.ATOMIC
    found[load] = State.L1
    found[load & late] = State.L2
    found[load & far] = State.MEMORY
    found[hand > 0] = State.BARRIER
    found[hand == BULK] = State.L2
    found[(hand == BULK) & far] = State.MEMORY
    found[(cause & 1) == 1] = State.QUEUE
    found[cause < 0] = State.DEPENDENCE
    return found
