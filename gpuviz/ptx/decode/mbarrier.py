"""mbarrier: who arrives, which bytes are expected, and who waits for the end of a phase.

A wait that is not over sends its lanes round their loop, behind all others; where nobody else can
go on either it never will be, which is a deadlock.
"""

from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import I64, Array, Bool
from gpuviz.base.errors import KernelFault
from gpuviz.ptx.decode.operands import Builder, Reader, Site, by_form
from gpuviz.ptx.simt import mbarriers
from gpuviz.ptx.simt.code import Step
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.simt.shared_addresses import SharedAddresses, of_lanes, shared_addresses
from gpuviz.ptx.text.ir import Addr, Imm, Instruction, Operand, Reg, Sym
from gpuviz.traces.observe import PhaseEvent, PhaseKind, Place

_ONE = Imm(1)


def address_of(site: Site, operand: Operand) -> Reader:
    """The address that `[base + offset]` names, in whatever space."""
    if not isinstance(operand, Addr):
        raise site.unsupported(f"the address {operand}")
    if isinstance(operand.base, Reg):
        read, offset = site.reader(operand.base, "u64"), np.uint64(operand.offset & (1 << 64) - 1)
        if not operand.offset:
            return read
        return lambda g: np.asarray(read(g) + offset)
    if operand.base is None:
        return site.reader(Imm(operand.offset), "u64")
    return site.reader(Sym(operand.base.name, operand.base.offset + operand.offset), "u64")


def tell(
    g: Group, at: Instruction, kind: PhaseKind, where: SharedAddresses, over: Bool | None = None
) -> None:
    """Tell sinks what lanes do at mbarriers; `over` are those of them that do."""
    if g.machine.told.phase:
        thread = g.layout.thread.reshape(-1)[where.lane]
        thread = thread + g.layout.first_block * g.layout.threads
        block = where.row + g.layout.first_block
        columns: tuple[I64, ...] = (thread, block, where.offset)
        if over is not None:
            columns = tuple(column[over] for column in columns)
        for hear in g.machine.told.phase:
            hear(PhaseEvent(Place.of(at), kind, *columns))


def change(
    g: Group,
    at: Instruction,
    where: SharedAddresses,
    arrivals: I64,
    coming: I64,
    drop: bool = False,
) -> Array:
    """As `mbarriers.change`; sinks are told who arrives, and whether a phase is over."""
    told = g.machine.told.phase
    if told and arrivals.any():
        tell(g, at, "arrive", where)
    before = mbarriers.change(g, where, at, arrivals, coming, drop)
    if told:
        over = mbarriers.read(g, where, at).phase != mbarriers.State.of(before).phase
        if over.any():
            tell(g, at, "over", where, over)
    return before


def _init(site: Site) -> Step:
    address, count = address_of(site, site.operands[0]), site.reader(site.operands[1], "u32")
    at = site.instruction

    def init(g: Group) -> None:
        where = shared_addresses(g, address(g), 8, 8, at)
        wanted = of_lanes(g, count(g), where.lane).astype(np.int64)
        if ((wanted < 1) | (wanted > mbarriers.MOST)).any():
            raise KernelFault(
                f"an mbarrier takes 1 to {mbarriers.MOST:,} arrivals, not {int(wanted.min())} "
                f"({at.where}, {g.who(g.first_active())})"
            )
        mbarriers.initialise(g, where, wanted)
        tell(g, at, "init", where)

    return init


def _invalidate(site: Site) -> Step:
    address, at = address_of(site, site.operands[0]), site.instruction
    return lambda g: mbarriers.invalidate(g, shared_addresses(g, address(g), 8, 8, at))


@dataclass(frozen=True)
class _Change:
    """How many arrivals, and how many bytes more are to come."""

    arrivals: Reader
    coming: Reader
    sign: int = 1
    drop: bool = False


def _changing(site: Site, target: Operand | None, address: Operand, what: _Change) -> Step:
    locate, at = address_of(site, address), site.instruction
    put = None if target is None else site.writer(target, "b64")

    def step(g: Group) -> None:
        where = shared_addresses(g, locate(g), 8, 8, at)
        arrivals = of_lanes(g, what.arrivals(g), where.lane).astype(np.int64)
        coming = of_lanes(g, what.coming(g), where.lane).astype(np.int64) * what.sign
        before = change(g, at, where, arrivals, coming, what.drop)
        if put is not None:
            state = np.zeros(g.layout.size, np.uint64)
            state[where.lane] = before
            put(g, state.reshape(g.layout.shape))

    return step


def _arrive(site: Site) -> Step:
    target, address, *rest = site.operands
    none, one = site.reader(Imm(0), "u32"), site.reader(_ONE, "u32")
    drop = site.mods[0] == "arrive_drop"
    if "expect_tx" in site.mods:
        return _changing(site, target, address, _Change(one, site.reader(rest[0], "u32"), 1, drop))
    count = site.reader(rest[0], "u32") if rest else one
    return _changing(site, target, address, _Change(count, none, 1, drop))


def _bytes(site: Site) -> Step:
    """expect_tx and complete_tx: nobody arrives."""
    none, count = site.reader(Imm(0), "u32"), site.reader(site.operands[1], "u32")
    sign = 1 if site.mods[0] == "expect_tx" else -1
    return _changing(site, None, site.operands[0], _Change(none, count, sign))


def _wait(site: Site) -> Step:
    target, address, which = site.operands[:3]
    put, locate, at = site.writer(target, "pred"), address_of(site, address), site.instruction
    by_parity = "parity" in site.mods
    wanted = site.reader(which, "u32" if by_parity else "b64")

    def wait(g: Group) -> None:
        where = shared_addresses(g, locate(g), 8, 8, at)
        asked = of_lanes(g, wanted(g), where.lane)
        parity = (asked if by_parity else asked >> np.uint64(63)).astype(np.int64) & 1
        over = mbarriers.read(g, where, at).phase != parity
        done = np.zeros(g.layout.size, bool)
        done[where.lane] = over
        put(g, done.reshape(g.layout.shape))
        if over.any():
            tell(g, at, "wait", where, over)
        if over.all():
            g.penalty = g.spins = 0
        else:
            g.machine.polling.wait(at, g, lambda group: _deadlock(group, at, locate))

    return wait


def _deadlock(g: Group, at: Instruction, address: Reader) -> KernelFault:
    where = shared_addresses(g, address(g), 8, 8, at)
    state = mbarriers.read(g, where, at)
    lane = int(where.lane[0])
    launch = g.machine.execution.launch
    block, thread = g.position(lane)
    lanes = int((where.row == where.row[0]).sum())
    lacks = [f"{int(state.pending[0])} of {int(state.expected[0])} arrivals"]
    if state.bytes[0]:
        lacks.append(f"{int(state.bytes[0]):,} bytes")
    message = (
        f"deadlock in block {launch.block_index(block)}: {lanes} threads wait at the mbarrier at "
        f"{int(where.offset[0]):#x} of shared memory ({at.where}) for the end of a phase that "
        f"lacks {' and '.join(lacks)}, the first is thread {launch.thread_index(thread)}; nobody "
        "else can go on"
    )
    remedy = (
        "count the arrivals of a phase, expect the bytes that are copied, and wait for the parity "
        "of the phase that is under way"
    )
    return g.fault("sync", "deadlock", message, at, lane, remedy)


def _pending(site: Site) -> Step:
    read = site.reader(site.operands[1], "b64")
    put = site.writer(site.operands[0], "u32")
    return lambda g: put(g, mbarriers.pending(read(g)))


def arrive_of_copies(site: Site) -> Step | None:
    """cp.async.mbarrier.arrive: the copies have been made, so that it is an arrival; without
    `.noinc` one that the phase did not count on, which leaves it as it was.
    """
    if "noinc" not in site.mods:
        return None
    none, one = site.reader(Imm(0), "u32"), site.reader(_ONE, "u32")
    return _changing(site, None, site.operands[0], _Change(one, none))


_FORMS: dict[str, Builder] = {
    "init": _init,
    "inval": _invalidate,
    "arrive": _arrive,
    "arrive_drop": _arrive,
    "expect_tx": _bytes,
    "complete_tx": _bytes,
    "test_wait": _wait,
    "try_wait": _wait,
    "pending_count": _pending,
}
STEPS: dict[str, Builder] = {"mbarrier": by_form(_FORMS)}
