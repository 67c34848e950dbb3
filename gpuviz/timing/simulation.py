"""One multiprocessor, cycle by cycle: schedulers, scoreboards, units, L1, and its share of L2 and
of memory.

`simulate` is written in the part of Python that `gpuviz.timing.native` compiles: numbers, arrays,
loops. It runs as it stands, too, only slower. `RECORDED` is the same with a record of every
instruction issued (`timeline`): where `RECORDING` is 0 the compiler leaves nothing of that.
"""

from __future__ import annotations

import math

from gpuviz.base.arrays import F64, I32, I64
from gpuviz.timing.native import with_constants
from gpuviz.timing.recency import come, leave, renew

# Kinds of instructions and units, as in `schedule`.
LOAD, STORE, ATOMIC, SHARED, BARRIER, EXIT, QUEUED, CONSTANT = 1, 2, 3, 4, 5, 6, 7, 8
LOCAL_LOAD, LOCAL_STORE, PRODUCT, BYPASS = 9, 10, 11, 12
FMA, HEAVY, SPECIAL, MIO = 2, 3, 5, 6
PIPES = 9
PARTS = 4
BOARDS = 6
NEAR_LINES = 40  # of 8 instructions, in the instruction cache of a scheduler
CODE_LINES = 256  # in that of the multiprocessor

# What `facts` holds, by place.
(
    SLOTS,  # blocks that reside at once
    FIRST,  # cycles until the first block runs
    INTERVAL,  # cycles from the start of one block on this multiprocessor to that of the next
    AGAIN,  # cycles from the end of a block to the start of another in its place
    BRANCH,  # cycles that a jump costs its warp beyond what the assembler wrote
    L1_LATENCY,
    L2_LATENCY,
    L2_SPREAD,  # cycles by which the farthest part of L2 is farther than the nearest
    DRAM_LATENCY,  # beyond that of L2
    SHARED_LATENCY,
    CONSTANT_LATENCY,
    L1_LINES,  # capacity
    L2_READ,  # cycles a sector, at this multiprocessor's share of what all can have
    L2_REQUEST,  # cycles of a line at the least, of which sectors are read
    L2_FILL,  # cycles of L2 for each sector that comes from memory
    DRAM_SPREAD,  # cycles by which a sector from memory may be late
    L2_WRITE,
    L2_PARTIAL,  # of a sector that is written in part
    DRAM_SECTOR,  # cycles a sector
    DRAM_SHARE,  # sectors memory is read for, of those this multiprocessor touches first
    REQUEST,  # cycles from one load, or access of shared memory, to the next at the least
    STORE_LINE,  # cycles of the first stage of L1 for each line that is stored to
    QUEUE,  # cycles of work that may wait before L1
    WRITES,  # cycles of writes that may wait before L2
    ATOMIC_SECTOR,  # cycles of L2 for each sector of an atomic
    ATOMIC_PACKET,  # cycles of L2 for each packet, where few pairs of lines share the work
    BARRIER_LATENCY,
    LINE_LATENCY,  # cycles that a request's later lines take longer
    DRAM_LINE_LATENCY,  # cycles that each further line from memory takes longer
    RETURN,  # cycles that a line takes on its way from L1 to the registers
    WARP_START,  # cycles from the start of one warp of a block to that of the next
    DRAM_WRITE,  # cycles of memory for each sector written, where L2 cannot keep it
    FETCH,  # cycles until a jump's target comes from the multiprocessor's instruction cache
    FETCH_LINE,  # cycles for each line of instructions that comes from beyond it
    FETCH_FAR,  # cycles until the first of them comes, the first time
    FROM,  # cycle from which instructions are recorded
    BULK_LATENCY,  # cycles until a bulk copy asks for its first line
    BULK_LINE,  # cycles from one line of bulk copies to the next at the least
    CROWD,  # cycles by which what bulk copies bring is late, times u / (1 - u) of memory's work
    PHASE_LATENCY,  # cycles from the end of an mbarrier's phase until who waits for it goes on
    FACTS,
) = range(41)

# What `sums` counts.
(
    CYCLES,
    ISSUED,
    HITS,  # sectors
    MISSES,
    DRAM_READS,
    LINES,
    TURNS,
    WRITTEN,
    TOUCHED,  # sectors that memory would be read for, were nobody else there
    LSU_CYCLES,
    L2_CYCLES,
    DRAM_CYCLES,
    ATOMIC_CYCLES,
    SUMS,
) = range(14)

# What an instruction begins or waits for, as in `handovers`.
ARRIVE, WAIT, BULK = 1, 2, 3
# What it does with the groups of asynchronous copies, or from PRODUCTS on of matrix products, as in
# `groups`: it joins the one that is open, closes it, or both; or LEAVES + n, waits for all but the
# n latest, of which a scoreboard counts fewer than GROUPS.
JOINS, CLOSES, LEAVES = 1, 2, 4
GROUPS = 64
PRODUCTS = 128
SERIES = 2
RECENT = 2000.0  # cycles over which memory's work is averaged
LEAST_IDLE = 0.1

NEVER = 1e18
RECORDING = 0

# What is recorded of each instruction issued: cycles ...
(
    AT,  # issued
    PACED,  # its warp may go on, as the assembler wrote
    FETCHED,  # the warp's next instruction is at hand
    MET,  # all have come to the barrier
    CLEAR,  # the next instruction's operands are there
    FREE,  # until when units or a queue had kept it back
    BEGIN,  # L1 and shared memory begin with it
    END,  # and have done
    RESULT,
    L2_END,  # L2 has done
    L2_BUSY,  # how long it worked
    DRAM_END,  # memory has done
    DRAM_BUSY,
    DRAM,  # sectors that memory is read for
    READY,  # its operands were there
    LEFT,  # FREE of the next instruction, where that is not recorded
    CYCLES_NOTED,
) = range(17)
# ... and numbers.
(
    PLACE,  # slot and warp
    WARP,
    INSTRUCTION,
    ASKED,  # the request it makes, -1 for none
    CAUSE,  # 2 x the event that the next instruction waits for (+ 1: for its operands to be read)
    HIT,  # sectors found in L1
    MISSED,
    NEXT,  # the instruction that comes after it, where that is not recorded
    NUMBERS_NOTED,
) = range(9)


def simulate(
    facts: F64,
    busy: F64,
    latency: F64,
    near: F64,
    stall: I32,
    sets: I32,
    reads: I32,
    waits: I32,
    kind: I32,
    pipe: I32,
    jumps: I32,
    code: I32,
    warp_first: I64,
    warp_end: I64,
    warp_made: I64,
    made: I32,
    is_memory: I32,
    first: I64,
    line: I32,
    mask: I32,
    partial: I32,
    turns: I32,
    apart: I32,
    blocks: int,
    warps: int,
    now_at: I64,
    block_of: I32,
    next_at: F64,
    issued_at: F64,
    made_at: I64,
    board: F64,
    unit: F64,
    alive: I32,
    waiting: I32,
    slot_block: I32,
    slot_free: F64,
    near_line: I32,
    near_time: F64,
    far_time: F64,
    code_line: I32,
    valid: I32,
    seen: I32,
    arrive: F64,
    older: I32,
    newer: I32,
    held: I32,
    sums: F64,
    waited: F64,
    spent: F64,
    begun: F64,
    ended: F64,
    touched: F64,
    served: F64,
    room: int,
    cycles_noted: F64,
    numbers_noted: I32,
    last: I32,
    setter: I32,
    kept_back: F64,
    hands: I32,
    hand_first: I64,
    hand_phase: I32,
    hand_request: I32,
    phases: int,
    left: I32,
    over: F64,
    completed: I32,
    hand_at: I64,
    asleep: I32,
    groups: I32,
    closed: I64,
    brought: F64,
    bringer: I32,
) -> float:
    """Run the blocks; the cycle in which the last of them has ended. See `multiprocessor.run`."""
    slots = int(facts[SLOTS])
    capacity = int(facts[L1_LINES])
    places = slots * warps
    time = 0.0
    launched = 0
    done = 0
    next_launch = facts[FIRST]
    lines_held = 0
    lsu = 0.0
    gate = 0.0
    fetched = 0.0
    l2 = 0.0
    writes = 0.0
    dram = 0.0
    atomics = 0.0
    drawn = 0.0
    turn = 0
    returned = 0.0
    last_end = 0.0
    before = 0.0
    copying = 0.0
    crowd = 0.0
    crowd_at = 0.0
    for place in range(places):
        next_at[place] = NEVER
        last[place] = -1
        asleep[place] = -1
    for slot in range(slots):
        slot_block[slot] = -1
    while done < blocks:
        # Blocks come, one at a time.
        if launched < blocks:
            slot = -1
            soonest = NEVER
            for s in range(slots):
                if slot_block[s] < 0 and slot_free[s] < soonest:
                    soonest = slot_free[s]
                    slot = s
            if slot >= 0 and max(soonest, next_launch) <= time:
                slot_block[slot] = launched
                begun[launched] = time
                alive[slot] = 0
                waiting[slot] = 0
                for w in range(warps):
                    place = slot * warps + w
                    number = launched * warps + w
                    block_of[place] = number
                    now_at[place] = warp_first[number]
                    made_at[place] = warp_made[number]
                    hand_at[place] = hand_first[number]
                    asleep[place] = -1
                    for b in range(SERIES):
                        closed[place * SERIES + b] = 0
                        brought[(place * SERIES + b) * GROUPS] = 0.0
                    for b in range(BOARDS):
                        board[place * BOARDS + b] = 0.0
                    if warp_first[number] < warp_end[number]:
                        next_at[place] = time + 1.0 + float(w) * facts[WARP_START]
                        alive[slot] += 1
                    else:
                        next_at[place] = NEVER
                if alive[slot] == 0:
                    slot_block[slot] = -1
                    slot_free[slot] = time
                    ended[launched] = time
                    done += 1
                launched += 1
                next_launch = time + facts[INTERVAL]
        soon = NEVER
        issued_any = 0
        turn += 1
        for quarter in range(PARTS):
            part = (quarter + turn) % PARTS
            # Of the warps that are ready, the one that has waited longest.
            chosen = -1
            best = NEVER
            place = part
            while place < places:
                at = next_at[place]
                if at >= 0.0 and at < NEVER:
                    i = code[now_at[place]]
                    free = unit[part * PIPES + pipe[i]]
                    if kind[i] == PRODUCT:
                        free = 0.0  # they queue, and the warp goes on
                    if pipe[i] == MIO and (is_memory[i] == 1):
                        free = max(free, max(lsu, gate) - facts[QUEUE])
                        if kind[i] == STORE or kind[i] == ATOMIC or kind[i] == LOCAL_STORE:
                            free = max(free, max(writes, atomics) - facts[WRITES])
                    if free > at:
                        at = free
                        if RECORDING == 1 and at > time:
                            kept_back[place] = at
                    if at <= time:
                        rank = issued_at[place]
                        if rank < best:
                            best = rank
                            chosen = place
                    elif at < soon:
                        soon = at
                place += PARTS
            if chosen < 0:
                continue
            issued_any = 1
            sums[ISSUED] += 1.0
            place = chosen
            issued_at[place] = time
            i = code[now_at[place]]
            spent[i] += 1.0
            k = kind[i]
            is_load = (k == LOAD) | (k == LOCAL_LOAD) | (k == BYPASS)
            is_store = (k == STORE) | (k == LOCAL_STORE)
            slot = place // warps
            result = time
            read = time + 4.0
            noted = -1
            if RECORDING == 1 and time < facts[FROM]:
                before = sums[ISSUED]
            if RECORDING == 1 and time >= facts[FROM] and sums[ISSUED] - before <= float(room):
                noted = int(sums[ISSUED] - before) - 1
                cycles_noted[noted * CYCLES_NOTED + AT] = time
                cycles_noted[noted * CYCLES_NOTED + FREE] = min(kept_back[place], time)
                numbers_noted[noted * NUMBERS_NOTED + PLACE] = place
                numbers_noted[noted * NUMBERS_NOTED + WARP] = block_of[place]
                numbers_noted[noted * NUMBERS_NOTED + INSTRUCTION] = i
            if RECORDING == 1:
                if noted >= 0:
                    cycles_noted[noted * CYCLES_NOTED + READY] = next_at[place]
                elif last[place] >= 0:
                    cycles_noted[last[place] * CYCLES_NOTED + LEFT] = min(kept_back[place], time)
                    numbers_noted[last[place] * NUMBERS_NOTED + NEXT] = i
                last[place] = noted
                kept_back[place] = 0.0
            hits_before = sums[HITS]
            missed_before = sums[MISSES]
            dram_before = sums[DRAM_READS]
            lsu_before = sums[LSU_CYCLES]
            l2_before = sums[L2_CYCLES]
            memory_before = sums[DRAM_CYCLES]
            step = float(stall[i])
            if step < 1.0:
                step = 1.0
            if jumps[i] == 1:
                step += facts[BRANCH]
            p = pipe[i]
            free = unit[part * PIPES + p]
            if free <= time - 1.0:
                free = time  # else they follow each other, by parts of a cycle too
            unit[part * PIPES + p] = free + busy[i]
            if p == HEAVY:
                unit[part * PIPES + FMA] = max(unit[part * PIPES + FMA], time + 1.0)
            q = -1
            if is_memory[i] == 1:
                q = made[made_at[place]]
                made_at[place] += 1
            if k == QUEUED:
                result = time + latency[i]
                if p == SPECIAL:
                    result += busy[i]
            elif k == PRODUCT:
                result = unit[part * PIPES + p] + latency[i]
            elif k == CONSTANT:
                result = time + facts[CONSTANT_LATENCY]
            elif k == SHARED:
                gate = max(time + 1.0, gate) + facts[REQUEST]
                begin = max(gate - facts[REQUEST], lsu)
                cost = 1.0
                if q >= 0:
                    cost = float(turns[q])
                    sums[TURNS] += cost
                    lsu = begin + cost
                    sums[LSU_CYCLES] += cost
                    served[i] += cost
                result = begin + cost + facts[SHARED_LATENCY]
                read = begin + cost
            elif q >= 0:
                count = int(first[q + 1] - first[q])
                begin = max(time + 1.0, lsu)
                if is_load:
                    sums[LINES] += float(count)
                    gate = max(time + 1.0, gate) + facts[REQUEST]
                    begin = max(gate - facts[REQUEST], lsu)
                    work = float(turns[q])
                    lsu = begin + work
                    sums[LSU_CYCLES] += work
                    served[i] += work
                    result = lsu + facts[L1_LATENCY]
                    missed = 0
                    far = 0
                    for n in range(first[q], first[q + 1]):
                        begin += work / float(count)
                        d = line[n] + apart[block_of[place] // warps]
                        m = mask[n]
                        present = 0
                        if k != BYPASS:
                            present = valid[d]
                        miss = m & ~present
                        hit = m & present
                        if hit != 0:
                            bits = (hit & 1) + (hit >> 1 & 1) + (hit >> 2 & 1) + (hit >> 3 & 1)
                            sums[HITS] += float(bits)
                            result = max(result, arrive[d])
                        if held[d] == 1 and k != BYPASS:
                            renew(d + 1, older, newer)
                        elif miss != 0 and k != BYPASS:
                            if lines_held >= capacity:
                                gone = newer[0] - 1
                                leave(gone + 1, older, newer)
                                held[gone] = 0
                                valid[gone] = 0
                                lines_held -= 1
                            held[d] = 1
                            come(d + 1, older, newer)
                            lines_held += 1
                        if miss != 0:
                            bits = (miss & 1) + (miss >> 1 & 1) + (miss >> 2 & 1) + (miss >> 3 & 1)
                            sums[MISSES] += float(bits)
                            missed += 1
                            cost = max(float(bits) * facts[L2_READ], facts[L2_REQUEST])
                            l2 = max(l2, begin) + cost
                            sums[L2_CYCLES] += cost
                            away = float((d * 40503 >> 4) & 255) / 255.0
                            away = facts[L2_LATENCY] + away * facts[L2_SPREAD]
                            back = l2 + away + float(missed) * facts[LINE_LATENCY]
                            if (miss & ~seen[d]) != 0:
                                pairs = sums[TOUCHED]
                                touch(d, miss, time, seen, touched, sums)
                                pairs = sums[TOUCHED] - pairs
                                if facts[DRAM_SHARE] > 0.0:
                                    pairs_due = pairs * facts[DRAM_SHARE]
                                    dram = max(dram, begin) + pairs_due * facts[DRAM_SECTOR]
                                    sums[DRAM_READS] += pairs_due
                                    sums[DRAM_CYCLES] += pairs_due * facts[DRAM_SECTOR]
                                    l2 += pairs_due * facts[L2_FILL]
                                    sums[L2_CYCLES] += pairs_due * facts[L2_FILL]
                                    if pairs > 0.0:
                                        drawn += 1.0 - near[d]
                                    if pairs > 0.0 and drawn >= 1.0:
                                        drawn -= 1.0
                                        far += 1
                                        late = float(far) * facts[DRAM_LINE_LATENCY]
                                        late += (
                                            float((d * 25717 >> 3) & 255)
                                            / 255.0
                                            * facts[DRAM_SPREAD]
                                        )
                                        back = max(back, dram + away + facts[DRAM_LATENCY] + late)
                            if k != BYPASS:
                                valid[d] |= miss
                                arrive[d] = back
                            result = max(result, back)
                    # It asks L2 for one line a cycle.
                    if float(missed) > work:
                        lsu += float(missed) - work
                        sums[LSU_CYCLES] += float(missed) - work
                        served[i] += float(missed) - work
                    # What L1 returns, it returns in order.
                    returned = max(returned + work * facts[RETURN], lsu)
                    result = max(result, returned)
                    read = lsu
                elif is_store:
                    cost = float(count) * facts[STORE_LINE]
                    lsu = begin + cost
                    sums[LSU_CYCLES] += cost
                    served[i] += cost
                    read = lsu
                    for n in range(first[q], first[q + 1]):
                        m = mask[n]
                        bits = (m & 1) + (m >> 1 & 1) + (m >> 2 & 1) + (m >> 3 & 1)
                        m = partial[n]
                        some = (m & 1) + (m >> 1 & 1) + (m >> 2 & 1) + (m >> 3 & 1)
                        sums[WRITTEN] += float(bits)
                        dram = max(dram, lsu) + float(bits) * facts[DRAM_WRITE]
                        sums[DRAM_CYCLES] += float(bits) * facts[DRAM_WRITE]
                        cost = float(bits - some) * facts[L2_WRITE]
                        cost += float(some) * facts[L2_PARTIAL]
                        l2 = max(l2, lsu) + cost
                        sums[L2_CYCLES] += cost
                    writes = max(l2, dram) if facts[DRAM_WRITE] > 0.0 else l2
                elif k == ATOMIC:
                    lsu = begin + float(count)
                    sums[LSU_CYCLES] += float(count)
                    served[i] += float(count)
                    read = lsu
                    cost = 0.0
                    for n in range(first[q], first[q + 1]):
                        m = mask[n]
                        bits = (m & 1) + (m >> 1 & 1) + (m >> 2 & 1) + (m >> 3 & 1)
                        cost += float(bits) * facts[ATOMIC_SECTOR]
                    cost = max(cost, float(turns[q]) * facts[ATOMIC_PACKET])
                    atomics = max(atomics, lsu) + cost
                    sums[ATOMIC_CYCLES] += cost
                    result = atomics + facts[L2_LATENCY]
            h = hands[i]
            phase = -1
            sleeps = -1
            until = 0.0
            if h != 0:
                n = hand_at[place]
                hand_at[place] += 1
                phase = hand_phase[n]
                if phase >= 0:
                    phase += (block_of[place] // warps) * phases
                if h == WAIT and phase >= 0:
                    result = time + facts[PHASE_LATENCY]
                    if left[phase] > 0:
                        sleeps = phase
                    else:
                        until = over[phase] + facts[PHASE_LATENCY]
                        result = max(result, until)
                elif h == BULK and hand_request[n] >= 0:
                    q = hand_request[n]
                    copying = max(copying, time + facts[BULK_LATENCY])
                    for a in range(first[q], first[q + 1]):
                        copying += facts[BULK_LINE]
                        d = line[a] + apart[block_of[place] // warps]
                        m = mask[a]
                        bits = (m & 1) + (m >> 1 & 1) + (m >> 2 & 1) + (m >> 3 & 1)
                        sums[MISSES] += float(bits)
                        cost = max(float(bits) * facts[L2_READ], facts[L2_REQUEST])
                        l2 = max(l2, copying) + cost
                        sums[L2_CYCLES] += cost
                        away = float((d * 40503 >> 4) & 255) / 255.0
                        away = facts[L2_LATENCY] + away * facts[L2_SPREAD]
                        back = l2 + away
                        if (m & ~seen[d]) != 0:
                            pairs = sums[TOUCHED]
                            touch(d, m, time, seen, touched, sums)
                            pairs = sums[TOUCHED] - pairs
                            if facts[DRAM_SHARE] > 0.0 and pairs > 0.0:
                                pairs_due = pairs * facts[DRAM_SHARE]
                                cost = pairs_due * facts[DRAM_SECTOR]
                                dram = max(dram, copying) + cost
                                sums[DRAM_READS] += pairs_due
                                sums[DRAM_CYCLES] += cost
                                l2 += pairs_due * facts[L2_FILL]
                                sums[L2_CYCLES] += pairs_due * facts[L2_FILL]
                                crowd *= max(0.0, 1.0 - (copying - crowd_at) / RECENT)
                                crowd += cost / RECENT
                                crowd_at = copying
                                drawn += 1.0 - near[d]
                                if drawn >= 1.0:
                                    drawn -= 1.0
                                    late = float((d * 25717 >> 3) & 255) / 255.0
                                    late *= facts[DRAM_SPREAD]
                                    idle = max(1.0 - crowd, LEAST_IDLE)
                                    late += facts[CROWD] * crowd / idle
                                    back = max(back, dram + away + facts[DRAM_LATENCY] + late)
                        result = max(result, back)
                if h != WAIT and phase >= 0:
                    left[phase] -= 1
                    if RECORDING == 1 and result >= over[phase]:
                        completed[phase] = 2 * noted
                    over[phase] = max(over[phase], result)
            g = groups[i] % PRODUCTS
            row = place * SERIES + groups[i] // PRODUCTS
            group = row * GROUPS + closed[row] % GROUPS
            awaited = group
            if g < LEAVES:
                if (g & JOINS) != 0 and (q >= 0 or k == PRODUCT) and result > brought[group]:
                    brought[group] = result
                    bringer[group] = 2 * noted
                if (g & CLOSES) != 0:
                    result = max(result, brought[group])
                    closed[row] += 1
                    following = row * GROUPS + closed[row] % GROUPS
                    brought[following] = brought[group]
                    bringer[following] = bringer[group]
            elif closed[row] > g - LEAVES:
                awaited = row * GROUPS + (closed[row] - 1 - (g - LEAVES)) % GROUPS
                until = brought[awaited]
            s = sets[i]
            if s < BOARDS:
                if RECORDING == 1 and result >= board[place * BOARDS + s]:
                    setter[place * BOARDS + s] = 2 * noted
                board[place * BOARDS + s] = max(board[place * BOARDS + s], result)
            s = reads[i]
            if s < BOARDS:
                if RECORDING == 1 and read >= board[place * BOARDS + s]:
                    setter[place * BOARDS + s] = 2 * noted + 1
                board[place * BOARDS + s] = max(board[place * BOARDS + s], read)
            if RECORDING == 1 and noted >= 0:
                numbers_noted[noted * NUMBERS_NOTED + ASKED] = q
                numbers_noted[noted * NUMBERS_NOTED + CAUSE] = -1
                numbers_noted[noted * NUMBERS_NOTED + HIT] = int(sums[HITS] - hits_before)
                numbers_noted[noted * NUMBERS_NOTED + MISSED] = int(sums[MISSES] - missed_before)
                cycles_noted[noted * CYCLES_NOTED + BEGIN] = lsu - (sums[LSU_CYCLES] - lsu_before)
                cycles_noted[noted * CYCLES_NOTED + END] = lsu
                cycles_noted[noted * CYCLES_NOTED + RESULT] = result
                cycles_noted[noted * CYCLES_NOTED + L2_END] = l2
                cycles_noted[noted * CYCLES_NOTED + L2_BUSY] = sums[L2_CYCLES] - l2_before
                cycles_noted[noted * CYCLES_NOTED + DRAM_END] = dram
                cycles_noted[noted * CYCLES_NOTED + DRAM_BUSY] = sums[DRAM_CYCLES] - memory_before
                cycles_noted[noted * CYCLES_NOTED + DRAM] = sums[DRAM_READS] - dram_before
                cycles_noted[noted * CYCLES_NOTED + PACED] = time + step
            now_at[place] += 1
            ready = time + step
            if now_at[place] < warp_end[block_of[place]]:
                # The next instruction has to be in the scheduler's own small cache.
                where = code[now_at[place]] >> 3
                if where != i >> 3:
                    cell = part * NEAR_LINES + where % NEAR_LINES
                    if near_line[cell] != where:
                        near_line[cell] = where
                        near_time[cell] = time
                        if where != (i >> 3) + 1:  # what comes next has been fetched ahead
                            near_time[cell] += facts[FETCH]
                        if code_line[where % CODE_LINES] != where:
                            code_line[where % CODE_LINES] = where
                            if far_time[where] < 0.0:
                                far_time[where] = time + facts[FETCH_FAR]
                            else:
                                fetched = max(fetched, time) + facts[FETCH_LINE]
                                far_time[where] = fetched
                        near_time[cell] = max(near_time[cell], far_time[where])
                        if far_time[where + 1] < 0.0:
                            far_time[where + 1] = far_time[where] + facts[FETCH_LINE]
                            code_line[(where + 1) % CODE_LINES] = where + 1
                    ready = max(ready, near_time[cell])
            if RECORDING == 1 and noted >= 0:
                cycles_noted[noted * CYCLES_NOTED + FETCHED] = ready
                cycles_noted[noted * CYCLES_NOTED + MET] = ready
                cycles_noted[noted * CYCLES_NOTED + CLEAR] = ready
            if now_at[place] >= warp_end[block_of[place]]:
                next_at[place] = NEVER
                alive[slot] -= 1
                if ready > last_end:
                    last_end = ready
                if alive[slot] == 0:
                    ended[slot_block[slot]] = ready
                    slot_block[slot] = -1
                    slot_free[slot] = ready + facts[AGAIN]
                    done += 1
                    if slot_free[slot] < soon:
                        soon = slot_free[slot]
            elif sleeps >= 0:
                asleep[place] = sleeps
                waited[code[now_at[place]]] -= ready
                next_at[place] = NEVER
            elif k == BARRIER:
                waiting[slot] += 1
                next_at[place] = -ready
            else:
                w = waits[code[now_at[place]]]
                b = 0
                clear = max(ready, until)
                if RECORDING == 1 and noted >= 0 and until > ready:
                    which = noted * NUMBERS_NOTED + CAUSE
                    numbers_noted[which] = 2 * noted
                    if g >= LEAVES:
                        numbers_noted[which] = bringer[awaited]
                    elif phase >= 0 and completed[phase] >= 0:
                        numbers_noted[which] = completed[phase]
                while w != 0:
                    if w & 1:
                        if RECORDING == 1 and noted >= 0 and board[place * BOARDS + b] > clear:
                            which = noted * NUMBERS_NOTED + CAUSE
                            numbers_noted[which] = setter[place * BOARDS + b]
                        clear = max(clear, board[place * BOARDS + b])
                    w = w >> 1
                    b += 1
                if RECORDING == 1 and noted >= 0:
                    cycles_noted[noted * CYCLES_NOTED + CLEAR] = clear
                waited[code[now_at[place]]] += clear - ready
                next_at[place] = clear
                if clear < soon:
                    soon = clear
            if h != 0 and h != WAIT and phase >= 0 and left[phase] == 0:
                # The phase is over: who waits for it goes on.
                for w2 in range(warps):
                    other = slot * warps + w2
                    if asleep[other] == phase:
                        asleep[other] = -1
                        clear = max(time + 1.0, math.ceil(over[phase] + facts[PHASE_LATENCY]))
                        waited[code[now_at[other]]] += clear
                        next_at[other] = clear
                        if RECORDING == 1 and last[other] >= 0:
                            cycles_noted[last[other] * CYCLES_NOTED + CLEAR] = clear
                            which = last[other] * NUMBERS_NOTED + CAUSE
                            numbers_noted[which] = 2 * last[other]
                            if completed[phase] >= 0:
                                numbers_noted[which] = completed[phase]
                        if clear < soon:
                            soon = clear
            if alive[slot] > 0 and waiting[slot] >= alive[slot]:
                # All have come to the barrier.
                waiting[slot] = 0
                for w2 in range(warps):
                    other = slot * warps + w2
                    if next_at[other] < 0.0:
                        ready = time + facts[BARRIER_LATENCY]
                        waited[code[now_at[other] - 1]] += ready + next_at[other]
                        w = waits[code[now_at[other]]]
                        b = 0
                        clear = max(ready, -next_at[other])
                        while w != 0:
                            if w & 1:
                                if (
                                    RECORDING == 1
                                    and last[other] >= 0
                                    and board[other * BOARDS + b] > clear
                                ):
                                    which = last[other] * NUMBERS_NOTED + CAUSE
                                    numbers_noted[which] = setter[other * BOARDS + b]
                                clear = max(clear, board[other * BOARDS + b])
                            w = w >> 1
                            b += 1
                        if RECORDING == 1 and last[other] >= 0:
                            cycles_noted[last[other] * CYCLES_NOTED + MET] = max(
                                ready, -next_at[other]
                            )
                            cycles_noted[last[other] * CYCLES_NOTED + CLEAR] = clear
                        next_at[other] = clear
                        if clear < soon:
                            soon = clear
        if launched < blocks:
            soonest = NEVER
            for s in range(slots):
                if slot_block[s] < 0:
                    soonest = min(soonest, slot_free[s])
            if soonest < NEVER:
                soon = min(soon, max(soonest, next_launch))
        if issued_any == 1:
            time += 1.0
        else:
            time = max(time + 1.0, math.ceil(soon))
            if soon >= NEVER and done < blocks:
                return -1.0
    end = max(last_end, max(writes, atomics))
    sums[CYCLES] = end
    return end


def touch(line: int, asked: int, time: float, seen: I32, touched: F64, sums: F64) -> None:
    """Sectors that this multiprocessor asks L2 for, some of them for the first time: memory is read
    for whole pairs.
    """
    fresh = asked & ~seen[line]
    if (fresh & 3) != 0 and (seen[line] & 3) == 0:
        sums[TOUCHED] += 2.0
    if (fresh & 12) != 0 and (seen[line] & 12) == 0:
        sums[TOUCHED] += 2.0
    seen[line] |= asked
    if touched[line] < 0.0:
        touched[line] = time


RECORDED = with_constants(simulate, RECORDING=1)
