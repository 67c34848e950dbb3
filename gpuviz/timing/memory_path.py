"""What a request takes on its way: shared memory, L1, and a multiprocessor's share of L2 and of
memory. Written in the part of Python that `gpuviz.timing.native` compiles.
"""

from __future__ import annotations

from gpuviz.timing.caches import come, leave, renew
from gpuviz.timing.facts import Facts
from gpuviz.timing.issue_log import Issue
from gpuviz.timing.multiprocessor import Multiprocessor, Sum, Work
from gpuviz.timing.schedule import Kind

RECENT = 2000.0  # cycles over which memory's work is averaged
LEAST_IDLE = 0.1
LANES = 32.0


def serve(sm: Multiprocessor, one: Issue, begin: float, cycles: float) -> None:
    """L1 and shared memory, which are one, work for an instruction from a cycle on."""
    sm.path.lsu = begin + cycles
    sm.out.sums[Sum.LSU_CYCLES] += cycles
    sm.out.served[one.instruction] += cycles


def admitted(facts: Facts, sm: Multiprocessor) -> float:
    """When L1 and shared memory can begin with a load, one at a time."""
    sm.path.gate = max(sm.clock.time + 1.0, sm.path.gate) + facts.device.request
    return max(sm.path.gate - facts.device.request, sm.path.lsu)


def shared_access(work: Work, facts: Facts, sm: Multiprocessor, one: Issue) -> None:
    """Shared memory serves it, wavefront by wavefront."""
    begin = admitted(facts, sm)
    cycles = 1.0
    if one.request >= 0:
        cycles = float(work.traffic.turns[one.request])
        sm.out.sums[Sum.TURNS] += cycles
        serve(sm, one, begin, cycles)
    one.result = begin + cycles + facts.device.shared_latency
    one.read = begin + cycles
    if work.code.swaps[one.instruction] == 1 and one.request >= 0:
        swap(facts, sm, one, begin, cycles)


def swap(facts: Facts, sm: Multiprocessor, one: Issue, begin: float, tries: float) -> None:
    """A loop that swaps a word until no other lane was sooner: a lane of those that want one word
    gets through at each try, and all warps of the block are likely to want the one wanted most.
    """
    slots = sm.slots
    begin = max(begin, slots.swapped[one.slot])
    slots.swapped[one.slot] = begin + tries * tries / LANES * facts.device.swap
    one.result = begin + tries * facts.device.swap


def load(work: Work, facts: Facts, sm: Multiprocessor, one: Issue) -> None:
    """L1 looks its lines up, and asks L2 for what is not there."""
    traffic = work.traffic
    path = sm.path
    count = float(traffic.first[one.request + 1] - traffic.first[one.request])
    sm.out.sums[Sum.LINES] += count
    begin = admitted(facts, sm)
    cycles = float(traffic.turns[one.request])
    serve(sm, one, begin, cycles)
    one.result = path.lsu + facts.device.l1_latency
    for row in range(traffic.first[one.request], traffic.first[one.request + 1]):
        begin += cycles / count
        load_line(work, facts, sm, one, row, begin)
    # It asks L2 for one line a cycle.
    if float(one.missed) > cycles:
        serve(sm, one, path.lsu, float(one.missed) - cycles)
    # What L1 returns, it returns in order.
    path.returned = max(path.returned + cycles * facts.device.line_return, path.lsu)
    one.result = max(one.result, path.returned)
    one.read = path.lsu


def load_line(
    work: Work, facts: Facts, sm: Multiprocessor, one: Issue, row: int, begin: float
) -> None:
    """One line of a load."""
    lines = sm.lines
    line = int(work.traffic.line[row]) + sm.blocks.apart[one.block]
    asked = int(work.traffic.mask[row])
    there = 0
    if one.kind != Kind.BYPASS:
        there = lines.valid[line]
    hit = asked & there
    miss = asked & ~there
    if hit != 0:
        sm.out.sums[Sum.HITS] += sectors(hit)
        one.result = max(one.result, lines.arrive[line])
    if one.kind != Kind.BYPASS:
        keep_line(facts, sm, line, miss)
    if miss != 0:
        back = from_l2(facts, sm, one, line, miss, begin)
        one.result = max(one.result, back)
        if one.kind != Kind.BYPASS:
            lines.valid[line] |= miss
            lines.arrive[line] = back


def keep_line(facts: Facts, sm: Multiprocessor, line: int, miss: int) -> None:
    """L1 has a place for a line; the one that nobody has asked for longest makes room."""
    lines = sm.lines
    if lines.held[line] == 1:
        renew(line + 1, lines.older, lines.newer)
    elif miss != 0:
        if lines.count >= facts.l1_lines:
            gone = lines.newer[0] - 1
            leave(gone + 1, lines.older, lines.newer)
            lines.held[gone] = 0
            lines.valid[gone] = 0
            lines.count -= 1
        lines.held[line] = 1
        come(line + 1, lines.older, lines.newer)
        lines.count += 1


def from_l2(
    facts: Facts, sm: Multiprocessor, one: Issue, line: int, miss: int, begin: float
) -> float:
    """When the sectors are back that L1 has not."""
    one.missed += 1
    away = asked_of_l2(facts, sm, line, miss, begin)
    back = sm.path.l2 + away + float(one.missed) * facts.device.line_latency
    if (miss & ~sm.lines.seen[line]) != 0:
        fresh = touch(sm, line, miss)
        if facts.dram_share > 0.0:
            read_memory(facts, sm, fresh * facts.dram_share, begin)
            if fresh > 0.0:
                sm.path.drawn += 1.0 - sm.lines.near[line]
            if fresh > 0.0 and sm.path.drawn >= 1.0:
                sm.path.drawn -= 1.0
                one.far += 1
                late = float(one.far) * facts.device.dram_line_latency
                late += scattered(line, 25717, 3) * facts.device.dram_spread
                back = max(back, sm.path.dram + away + facts.device.dram_latency + late)
    return back


def asked_of_l2(facts: Facts, sm: Multiprocessor, line: int, asked: int, begin: float) -> float:
    """L2 works for some sectors of a line; how far away that is."""
    sm.out.sums[Sum.MISSES] += sectors(asked)
    cycles = max(sectors(asked) * facts.l2_read, facts.l2_request)
    sm.path.l2 = max(sm.path.l2, begin) + cycles
    sm.out.sums[Sum.L2_CYCLES] += cycles
    return facts.device.l2_latency + scattered(line, 40503, 4) * facts.device.l2_spread


def read_memory(facts: Facts, sm: Multiprocessor, due: float, begin: float) -> None:
    """Memory is read for so many sectors, and L2 takes them."""
    sm.path.dram = max(sm.path.dram, begin) + due * facts.dram_sector
    sm.out.sums[Sum.DRAM_READS] += due
    sm.out.sums[Sum.DRAM_CYCLES] += due * facts.dram_sector
    sm.path.l2 += due * facts.l2_fill
    sm.out.sums[Sum.L2_CYCLES] += due * facts.l2_fill


def touch(sm: Multiprocessor, line: int, asked: int) -> float:
    """Sectors that this multiprocessor asks L2 for, some of them for the first time: memory is read
    for whole pairs, of so many sectors.
    """
    seen = sm.lines.seen[line]
    fresh = asked & ~seen
    found = 0.0
    if (fresh & 3) != 0 and (seen & 3) == 0:
        found += 2.0
    if (fresh & 12) != 0 and (seen & 12) == 0:
        found += 2.0
    sm.out.sums[Sum.TOUCHED] += found
    sm.lines.seen[line] = seen | asked
    if sm.out.touched[line] < 0.0:
        sm.out.touched[line] = sm.clock.time
    return found


def store(work: Work, facts: Facts, sm: Multiprocessor, one: Issue) -> None:
    """L1 passes its lines on; L2 takes sectors written whole or in part, and memory what L2 cannot
    keep.
    """
    traffic = work.traffic
    path = sm.path
    count = float(traffic.first[one.request + 1] - traffic.first[one.request])
    serve(sm, one, max(sm.clock.time + 1.0, path.lsu), count * facts.device.store_line)
    one.read = path.lsu
    for row in range(traffic.first[one.request], traffic.first[one.request + 1]):
        written = sectors(traffic.mask[row])
        some = sectors(traffic.partial[row])
        sm.out.sums[Sum.WRITTEN] += written
        path.dram = max(path.dram, path.lsu) + written * facts.dram_write
        sm.out.sums[Sum.DRAM_CYCLES] += written * facts.dram_write
        cycles = written * facts.l2_write
        if some > 0.0:
            cycles = max(cycles, facts.l2_partial)
        path.l2 = max(path.l2, path.lsu) + cycles
        sm.out.sums[Sum.L2_CYCLES] += cycles
    path.writes = path.l2
    if facts.dram_write > 0.0:
        path.writes = max(path.l2, path.dram)


def atomic(work: Work, facts: Facts, sm: Multiprocessor, one: Issue) -> None:
    """L2 works for its sectors, or its packets."""
    traffic = work.traffic
    path = sm.path
    count = float(traffic.first[one.request + 1] - traffic.first[one.request])
    serve(sm, one, max(sm.clock.time + 1.0, path.lsu), count)
    one.read = path.lsu
    cycles = 0.0
    for row in range(traffic.first[one.request], traffic.first[one.request + 1]):
        cycles += sectors(traffic.mask[row]) * facts.atomic_sector
    cycles = max(cycles, float(traffic.turns[one.request]) * facts.atomic_packet)
    path.atomics = max(path.atomics, path.lsu) + cycles
    sm.out.sums[Sum.ATOMIC_CYCLES] += cycles
    one.result = path.atomics + facts.device.l2_latency


def bulk_copy(work: Work, facts: Facts, sm: Multiprocessor, one: Issue) -> None:
    """Lines that a bulk copy asks L2 for, one after another."""
    traffic = work.traffic
    sm.path.copying = max(sm.path.copying, sm.clock.time + facts.device.bulk_latency)
    for row in range(traffic.first[one.request], traffic.first[one.request + 1]):
        sm.path.copying += facts.device.bulk_line
        line = int(traffic.line[row]) + sm.blocks.apart[one.block]
        back = bulk_line(facts, sm, line, int(traffic.mask[row]), sm.path.copying)
        one.result = max(one.result, back)


def bulk_line(facts: Facts, sm: Multiprocessor, line: int, asked: int, begin: float) -> float:
    """When one line of a bulk copy is there."""
    away = asked_of_l2(facts, sm, line, asked, begin)
    back = sm.path.l2 + away
    if (asked & ~sm.lines.seen[line]) == 0:
        return back
    fresh = touch(sm, line, asked)
    if facts.dram_share > 0.0 and fresh > 0.0:
        path = sm.path
        due = fresh * facts.dram_share
        read_memory(facts, sm, due, begin)
        path.crowd *= max(0.0, 1.0 - (begin - path.crowd_at) / RECENT)
        path.crowd += due * facts.dram_sector / RECENT
        path.crowd_at = begin
        path.drawn += 1.0 - sm.lines.near[line]
        if path.drawn >= 1.0:
            path.drawn -= 1.0
            late = scattered(line, 25717, 3) * facts.device.dram_spread
            idle = max(1.0 - path.crowd, LEAST_IDLE)
            late += facts.device.crowd * path.crowd / idle
            back = max(back, path.dram + away + facts.device.dram_latency + late)
    return back


def sectors(mask: int) -> float:
    """How many of the four bits are set."""
    return float((mask & 1) + (mask >> 1 & 1) + (mask >> 2 & 1) + (mask >> 3 & 1))


def scattered(line: int, factor: int, shift: int) -> float:
    """A number from 0 to 1 that is another for each line."""
    return float((line * factor >> shift) & 255) / 255.0
