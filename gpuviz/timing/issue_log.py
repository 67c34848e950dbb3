"""The record of every instruction issued, as the simulation writes it.

Where `RECORDING` is 0 the compiler leaves nothing of it (see `simulation`).
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuviz.timing.multiprocessor import Multiprocessor, Sum

RECORDING = 0


@dataclass(eq=False)
class Issue:
    """An instruction that is issued now: by which scheduler, to the warp of which place, slot and
    block; the request it makes (-1: none). When its result is there and its operands have been
    read; its lines that L1 missed, or memory brings. The phase of an mbarrier it sleeps for or
    contributes to (-1: none); the cycle it waits `until`, and for which event; its own (-1: none).
    """

    part: int
    place: int
    slot: int
    block: int
    instruction: int
    kind: int
    result: float
    read: float
    request: int = -1
    missed: int = 0
    far: int = 0
    sleeps: int = -1
    arrives: int = -1
    until: float = 0.0
    cause: int = -1
    noted: int = -1


def opened(sm: Multiprocessor, one: Issue) -> int:
    """The row of an instruction that is recorded, -1 of one that is not."""
    if RECORDING == 0:
        return -1
    recorder = sm.recorder
    log = recorder.log
    time = sm.clock.time
    place = one.place
    noted = -1
    if time < recorder.since:
        recorder.before = sm.out.sums[Sum.ISSUED]
    elif sm.out.sums[Sum.ISSUED] - recorder.before <= float(recorder.room):
        noted = int(sm.out.sums[Sum.ISSUED] - recorder.before) - 1
        log.at[noted] = time
        log.free[noted] = min(recorder.kept_back[place], time)
        log.ready[noted] = sm.warps.ready[place]
        log.place[noted] = place
        log.number[noted] = sm.warps.number[place]
        log.instruction[noted] = one.instruction
    if noted < 0 and recorder.last[place] >= 0:
        log.left[recorder.last[place]] = min(recorder.kept_back[place], time)
        log.next[recorder.last[place]] = one.instruction
    recorder.last[place] = noted
    recorder.kept_back[place] = 0.0
    recorder.hits = sm.out.sums[Sum.HITS]
    recorder.misses = sm.out.sums[Sum.MISSES]
    recorder.reads = sm.out.sums[Sum.DRAM_READS]
    recorder.lsu = sm.out.sums[Sum.LSU_CYCLES]
    recorder.l2 = sm.out.sums[Sum.L2_CYCLES]
    recorder.dram = sm.out.sums[Sum.DRAM_CYCLES]
    return noted


def log_result(sm: Multiprocessor, one: Issue, paced: float) -> None:
    """What it asked for and found, and when all was done."""
    noted = one.noted
    if RECORDING == 1 and noted >= 0:
        log = sm.recorder.log
        sums = sm.out.sums
        log.request[noted] = one.request
        log.cause[noted] = -1
        log.hit[noted] = int(sums[Sum.HITS] - sm.recorder.hits)
        log.missed[noted] = int(sums[Sum.MISSES] - sm.recorder.misses)
        log.begin[noted] = sm.path.lsu - (sums[Sum.LSU_CYCLES] - sm.recorder.lsu)
        log.end[noted] = sm.path.lsu
        log.result[noted] = one.result
        log.l2_end[noted] = sm.path.l2
        log.l2_busy[noted] = sums[Sum.L2_CYCLES] - sm.recorder.l2
        log.dram_end[noted] = sm.path.dram
        log.dram_busy[noted] = sums[Sum.DRAM_CYCLES] - sm.recorder.dram
        log.dram[noted] = sums[Sum.DRAM_READS] - sm.recorder.reads
        log.paced[noted] = paced
