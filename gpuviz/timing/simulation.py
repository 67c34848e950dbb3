"""One multiprocessor, cycle by cycle: blocks that come, schedulers, units, scoreboards, barriers.

`simulate` and all that it calls is written in the part of Python that `gpuviz.timing.native`
compiles: numbers, arrays, records, loops. It runs as it stands, too, only slower. `RECORDED` is the
same with a record of every instruction issued (`issue_log`).
"""

from __future__ import annotations

import math

from gpuviz.timing.facts import Facts
from gpuviz.timing.issue_log import RECORDING, Issue, log_result, opened
from gpuviz.timing.memory_path import atomic, bulk_copy, load, shared_access, store
from gpuviz.timing.multiprocessor import (
    BOARDS,
    CODE_LINES,
    GROUPS,
    NEAR_LINES,
    NEVER,
    PARTS,
    PIPES,
    SERIES,
    Multiprocessor,
    Sum,
    Work,
)
from gpuviz.timing.native import with_constants
from gpuviz.timing.schedule import BULK, CLOSES, JOINS, LEAVES, PRODUCTS, WAIT, Kind, Pipe


def simulate(work: Work, facts: Facts, sm: Multiprocessor) -> float:
    """Run the blocks; the cycle in which the last of them has ended, -1 if some never do. See
    `multiprocessor.run`.
    """
    clock = sm.clock
    while clock.done < sm.blocks.count:
        start_block(work, facts, sm)
        clock.soon = NEVER
        clock.turn += 1
        issued = 0
        for quarter in range(PARTS):
            part = (quarter + clock.turn) % PARTS
            place = chosen(work, facts, sm, part)
            if place >= 0:
                issued = 1
                issue(work, facts, sm, part, place)
        if issued == 1:
            clock.time += 1.0
            continue
        if clock.launched < sm.blocks.count:
            slot = free_slot(facts, sm)
            if slot >= 0:
                clock.soon = min(clock.soon, max(sm.slots.free[slot], clock.next_launch))
        clock.time = max(clock.time + 1.0, math.ceil(clock.soon))
        if clock.soon >= NEVER and clock.done < sm.blocks.count:
            return -1.0
    end = max(clock.last_end, max(sm.path.writes, sm.path.atomics))
    sm.out.sums[Sum.CYCLES] = end
    return end


# Blocks come and go.


def free_slot(facts: Facts, sm: Multiprocessor) -> int:
    """The slot that has been free longest, or will be first; -1 where blocks run in all."""
    found = -1
    soonest = NEVER
    for slot in range(facts.slots):
        if sm.slots.block[slot] < 0 and sm.slots.free[slot] < soonest:
            soonest = sm.slots.free[slot]
            found = slot
    return found


def start_block(work: Work, facts: Facts, sm: Multiprocessor) -> None:
    """Blocks come, one at a time."""
    clock = sm.clock
    if clock.launched >= sm.blocks.count or clock.next_launch > clock.time:
        return
    slot = free_slot(facts, sm)
    if slot < 0:
        return
    if sm.slots.free[slot] > clock.time:
        return
    sm.slots.block[slot] = clock.launched
    sm.out.begun[clock.launched] = clock.time
    sm.slots.alive[slot] = 0
    sm.slots.waiting[slot] = 0
    for warp in range(work.warps):
        place = slot * work.warps + warp
        number = clock.launched * work.warps + warp
        start_warp(sm, place, number)
        if sm.blocks.first[number] < sm.blocks.end[number]:
            sm.warps.ready[place] = clock.time + 1.0 + float(warp) * facts.device.warp_start
            sm.slots.alive[slot] += 1
    if sm.slots.alive[slot] == 0:
        end_block(sm, slot, clock.time, clock.time)
    clock.launched += 1
    clock.next_launch = clock.time + facts.device.block_interval


def start_warp(sm: Multiprocessor, place: int, number: int) -> None:
    """A warp that has issued nothing, and waits for nothing."""
    warps = sm.warps
    warps.number[place] = number
    warps.at[place] = sm.blocks.first[number]
    warps.request[place] = sm.blocks.request[number]
    warps.step[place] = sm.blocks.step[number]
    warps.asleep[place] = -1
    warps.ready[place] = NEVER
    for series in range(SERIES):
        sm.groups.closed[place * SERIES + series] = 0
        sm.groups.brought[(place * SERIES + series) * GROUPS] = 0.0
    for board in range(BOARDS):
        warps.board[place * BOARDS + board] = 0.0


def end_warp(facts: Facts, sm: Multiprocessor, slot: int, place: int, end: float) -> None:
    """The last instruction of a warp, and perhaps of its block."""
    sm.warps.ready[place] = NEVER
    sm.slots.alive[slot] -= 1
    sm.clock.last_end = max(sm.clock.last_end, end)
    if sm.slots.alive[slot] == 0:
        end_block(sm, slot, end, end + facts.device.block_again)
        sm.clock.soon = min(sm.clock.soon, sm.slots.free[slot])


def end_block(sm: Multiprocessor, slot: int, end: float, free: float) -> None:
    """A block has ended; from when its slot is free."""
    sm.out.ended[sm.slots.block[slot]] = end
    sm.slots.block[slot] = -1
    sm.slots.free[slot] = free
    sm.clock.done += 1


# Schedulers choose a warp.


def chosen(work: Work, facts: Facts, sm: Multiprocessor, part: int) -> int:
    """Of the warps of a scheduler that are ready, the one that has waited longest; -1 for none."""
    found = -1
    best = NEVER
    place = part
    while place < facts.slots * work.warps:
        at = sm.warps.ready[place]
        if at >= 0.0 and at < NEVER:
            free = unit_free(work, facts, sm, part, work.streams.code[sm.warps.at[place]])
            if free > at:
                at = free
                if RECORDING == 1 and at > sm.clock.time:
                    sm.recorder.kept_back[place] = at
            if at <= sm.clock.time:
                if sm.warps.issued[place] < best:
                    best = sm.warps.issued[place]
                    found = place
            elif at < sm.clock.soon:
                sm.clock.soon = at
        place += PARTS
    return found


def unit_free(work: Work, facts: Facts, sm: Multiprocessor, part: int, instruction: int) -> float:
    """From when the unit of an instruction takes it, and the queues of memory do."""
    code = work.code
    kind = code.kind[instruction]
    free = sm.unit[part * PIPES + code.pipe[instruction]]
    if kind == Kind.PRODUCT:
        free = 0.0  # they queue, and the warp goes on
    if code.pipe[instruction] == Pipe.MIO and code.asks[instruction] == 1:
        free = max(free, max(sm.path.lsu, sm.path.gate) - facts.device.queue)
        if kind == Kind.STORE or kind == Kind.ATOMIC or kind == Kind.LOCAL_STORE:
            free = max(free, max(sm.path.writes, sm.path.atomics) - facts.device.writes)
    return float(free)


# An instruction is issued.


def issue(work: Work, facts: Facts, sm: Multiprocessor, part: int, place: int) -> None:
    """Issue the next instruction of a warp."""
    instruction = work.streams.code[sm.warps.at[place]]
    time = sm.clock.time
    one = Issue(
        part,
        place,
        place // work.warps,
        sm.warps.number[place] // work.warps,
        instruction,
        work.code.kind[instruction],
        result=time,
        read=time + 4.0,
    )
    sm.warps.issued[place] = time
    sm.out.sums[Sum.ISSUED] += 1.0
    sm.out.issued[instruction] += 1.0
    one.noted = opened(sm, one)
    one.cause = 2 * one.noted
    until = occupied(work, facts, sm, one)
    perform(work, facts, sm, one, until)
    if work.code.hands[instruction] != 0:
        at_mbarrier(work, facts, sm, one)
    in_group(work, sm, one)
    set_board(sm, one, work.code.sets[instruction], one.result, 2 * one.noted)
    set_board(sm, one, work.code.reads[instruction], one.read, 2 * one.noted + 1)
    paced = time + pace(work, facts, instruction)
    log_result(sm, one, paced)
    sm.warps.at[place] += 1
    go_on(work, facts, sm, one, paced)
    if one.arrives >= 0 and sm.phases.left[one.arrives] == 0:
        end_phase(work, facts, sm, one)
    if sm.slots.alive[one.slot] > 0 and sm.slots.waiting[one.slot] >= sm.slots.alive[one.slot]:
        end_barrier(work, facts, sm, one.slot)


def pace(work: Work, facts: Facts, instruction: int) -> float:
    """Cycles until its warp may go on: as the assembler wrote, and what a jump costs."""
    found = max(float(work.code.stall[instruction]), 1.0)
    if work.code.jumps[instruction] == 1:
        found += facts.device.branch
    return found


def occupied(work: Work, facts: Facts, sm: Multiprocessor, one: Issue) -> float:
    """Occupy its unit; until when."""
    pipe = work.code.pipe[one.instruction]
    unit = one.part * PIPES + pipe
    free = sm.unit[unit]
    if free <= sm.clock.time - 1.0:
        free = sm.clock.time  # else they follow each other, by parts of a cycle too
    sm.unit[unit] = free + facts.busy[one.instruction]
    if pipe == Pipe.HEAVY:
        other = one.part * PIPES + Pipe.FMA
        sm.unit[other] = max(sm.unit[other], sm.clock.time + 1.0)
    return float(sm.unit[unit])


def perform(work: Work, facts: Facts, sm: Multiprocessor, one: Issue, until: float) -> None:
    """When its result is there, and its operands have been read."""
    if work.code.asks[one.instruction] == 1:
        one.request = work.traffic.made[sm.warps.request[one.place]]
        sm.warps.request[one.place] += 1
    if one.kind == Kind.QUEUED:
        one.result = sm.clock.time + facts.latency[one.instruction]
        if work.code.pipe[one.instruction] == Pipe.SPECIAL:
            one.result += facts.busy[one.instruction]
    elif one.kind == Kind.PRODUCT:
        one.result = until + facts.latency[one.instruction]
    elif one.kind == Kind.CONSTANT:
        one.result = sm.clock.time + facts.device.constant_latency
    elif one.kind == Kind.SHARED:
        shared_access(work, facts, sm, one)
    elif one.request >= 0:
        if one.kind == Kind.LOAD or one.kind == Kind.LOCAL_LOAD or one.kind == Kind.BYPASS:
            load(work, facts, sm, one)
        elif one.kind == Kind.STORE or one.kind == Kind.LOCAL_STORE:
            store(work, facts, sm, one)
        elif one.kind == Kind.ATOMIC:
            atomic(work, facts, sm, one)


def at_mbarrier(work: Work, facts: Facts, sm: Multiprocessor, one: Issue) -> None:
    """It arrives at an mbarrier, begins a bulk copy, or waits for a phase."""
    step = sm.warps.step[one.place]
    sm.warps.step[one.place] += 1
    phases = sm.phases
    phase = work.mbarriers.phase[step]
    if phase >= 0:
        phase += one.block * phases.each
    hand = work.code.hands[one.instruction]
    if hand == WAIT:
        if phase >= 0:
            one.result = sm.clock.time + facts.device.phase_latency
            if phases.left[phase] > 0:
                one.sleeps = phase
            else:
                one.until = phases.over[phase] + facts.device.phase_latency
                one.result = max(one.result, one.until)
                if phases.completed[phase] >= 0:
                    one.cause = phases.completed[phase]
        return
    if hand == BULK and work.mbarriers.request[step] >= 0:
        one.request = work.mbarriers.request[step]
        bulk_copy(work, facts, sm, one)
    if phase >= 0:
        one.arrives = phase
        phases.left[phase] -= 1
        if RECORDING == 1 and one.result >= phases.over[phase]:
            phases.completed[phase] = 2 * one.noted
        phases.over[phase] = max(phases.over[phase], one.result)


def in_group(work: Work, sm: Multiprocessor, one: Issue) -> None:
    """It joins or closes a group of copies or products, or waits for some."""
    groups = sm.groups
    does = work.code.groups[one.instruction] % PRODUCTS
    row = one.place * SERIES + work.code.groups[one.instruction] // PRODUCTS
    group = row * GROUPS + groups.closed[row] % GROUPS
    if does >= LEAVES:
        if groups.closed[row] > does - LEAVES:
            awaited = row * GROUPS + (groups.closed[row] - 1 - (does - LEAVES)) % GROUPS
            one.until = groups.brought[awaited]
            one.cause = groups.bringer[awaited]
        return
    takes = one.request >= 0 or one.kind == Kind.PRODUCT
    if (does & JOINS) != 0 and takes and one.result > groups.brought[group]:
        groups.brought[group] = one.result
        groups.bringer[group] = 2 * one.noted
    if (does & CLOSES) != 0:
        one.result = max(one.result, groups.brought[group])
        groups.closed[row] += 1
        following = row * GROUPS + groups.closed[row] % GROUPS
        groups.brought[following] = groups.brought[group]
        groups.bringer[following] = groups.bringer[group]


def set_board(sm: Multiprocessor, one: Issue, board: int, until: float, cause: int) -> None:
    """Set a scoreboard of its warp until a cycle."""
    if board < BOARDS:
        place = one.place * BOARDS + board
        if RECORDING == 1 and until >= sm.warps.board[place]:
            sm.recorder.setter[place] = cause
        sm.warps.board[place] = max(sm.warps.board[place], until)


# A warp goes on, or waits.


def go_on(work: Work, facts: Facts, sm: Multiprocessor, one: Issue, paced: float) -> None:
    """From when its warp's next instruction can be issued."""
    ready = paced
    ended = sm.warps.at[one.place] >= sm.blocks.end[sm.warps.number[one.place]]
    after = 0
    if not ended:
        after = work.streams.code[sm.warps.at[one.place]]
        ready = max(ready, fetched(facts, sm, one, after))
    log = sm.recorder.log
    if RECORDING == 1 and one.noted >= 0:
        log.fetched[one.noted] = ready
        log.met[one.noted] = ready
        log.clear[one.noted] = ready
    if ended:
        end_warp(facts, sm, one.slot, one.place, ready)
    elif one.sleeps >= 0:
        sm.warps.asleep[one.place] = one.sleeps
        sm.out.waited[after] -= ready
        sm.warps.ready[one.place] = NEVER
    elif one.kind == Kind.BARRIER:
        sm.slots.waiting[one.slot] += 1
        sm.warps.ready[one.place] = -ready
    else:
        if RECORDING == 1 and one.noted >= 0 and one.until > ready:
            log.cause[one.noted] = one.cause
        clear = cleared(work, sm, one.place, max(ready, one.until))
        sm.out.waited[after] += clear - ready
        let_go(sm, one.place, clear)


def fetched(facts: Facts, sm: Multiprocessor, one: Issue, after: int) -> float:
    """From when the next instruction is in the scheduler's own small cache."""
    caches = sm.caches
    where = after >> 3
    line = one.instruction >> 3
    if where == line:
        return 0.0
    cell = one.part * NEAR_LINES + where % NEAR_LINES
    if caches.near_line[cell] != where:
        caches.near_line[cell] = where
        caches.near_time[cell] = sm.clock.time
        if where != line + 1:  # what comes next has been fetched ahead
            caches.near_time[cell] += facts.device.fetch
        if caches.line[where % CODE_LINES] != where:
            caches.line[where % CODE_LINES] = where
            if caches.far_time[where] < 0.0:
                caches.far_time[where] = sm.clock.time + facts.fetch_far
            else:
                caches.fetched = max(caches.fetched, sm.clock.time) + facts.device.fetch_line
                caches.far_time[where] = caches.fetched
        caches.near_time[cell] = max(caches.near_time[cell], caches.far_time[where])
        if caches.far_time[where + 1] < 0.0:
            caches.far_time[where + 1] = caches.far_time[where] + facts.device.fetch_line
            caches.line[(where + 1) % CODE_LINES] = where + 1
    return float(caches.near_time[cell])


def cleared(work: Work, sm: Multiprocessor, place: int, ready: float) -> float:
    """When the scoreboards are clear that a warp's next instruction waits for."""
    waits = work.code.waits[work.streams.code[sm.warps.at[place]]]
    board = place * BOARDS
    clear = ready
    while waits != 0:
        if waits & 1:
            if RECORDING == 1 and sm.recorder.last[place] >= 0 and sm.warps.board[board] > clear:
                sm.recorder.log.cause[sm.recorder.last[place]] = sm.recorder.setter[board]
            clear = max(clear, sm.warps.board[board])
        waits = waits >> 1
        board += 1
    return float(clear)


def let_go(sm: Multiprocessor, place: int, clear: float) -> None:
    """A warp's next instruction can be issued from a cycle on, as far as the warp knows."""
    if RECORDING == 1 and sm.recorder.last[place] >= 0:
        sm.recorder.log.clear[sm.recorder.last[place]] = clear
    sm.warps.ready[place] = clear
    sm.clock.soon = min(sm.clock.soon, clear)


def end_phase(work: Work, facts: Facts, sm: Multiprocessor, one: Issue) -> None:
    """The phase is over: who waits for it goes on."""
    over = math.ceil(sm.phases.over[one.arrives] + facts.device.phase_latency)
    for warp in range(work.warps):
        other = one.slot * work.warps + warp
        if sm.warps.asleep[other] == one.arrives:
            sm.warps.asleep[other] = -1
            clear = max(sm.clock.time + 1.0, over)
            sm.out.waited[work.streams.code[sm.warps.at[other]]] += clear
            if RECORDING == 1 and sm.recorder.last[other] >= 0:
                cause = 2 * sm.recorder.last[other]
                if sm.phases.completed[one.arrives] >= 0:
                    cause = sm.phases.completed[one.arrives]
                sm.recorder.log.cause[sm.recorder.last[other]] = cause
            let_go(sm, other, clear)


def end_barrier(work: Work, facts: Facts, sm: Multiprocessor, slot: int) -> None:
    """All have come to the barrier."""
    sm.slots.waiting[slot] = 0
    for warp in range(work.warps):
        place = slot * work.warps + warp
        if sm.warps.ready[place] < 0.0:
            ready = sm.clock.time + facts.device.barrier_latency
            came = -sm.warps.ready[place]
            sm.out.waited[work.streams.code[sm.warps.at[place] - 1]] += ready - came
            ready = max(ready, came)
            if RECORDING == 1 and sm.recorder.last[place] >= 0:
                sm.recorder.log.met[sm.recorder.last[place]] = ready
            let_go(sm, place, cleared(work, sm, place, ready))


RECORDED = with_constants(simulate, RECORDING=1)
