"""Instructions in which the lanes of a warp exchange values."""

from collections.abc import Callable, Iterator

import numpy as np

from gpuviz.base.arrays import Array, Bool
from gpuviz.ptx.decode.matrices import warp_rows
from gpuviz.ptx.decode.operands import Builder, Reader, Site
from gpuviz.ptx.simt import warp_ops
from gpuviz.ptx.simt.code import Step
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.simt.rows import sync_of
from gpuviz.traces.observe import Place
from gpuviz.traces.trace import LANES, lane_mask

Results = tuple[Array, ...]
Sources = Callable[[Group], Array]
Compute = Callable[[Group, Bool], Results]


def _active_rows(g: Group) -> Bool:
    """(N, 32): which lanes of the layout's warps are in the group."""
    layout = g.layout
    if g.mask is not None:
        return layout.warp_rows(layout.full(g.mask))
    present = layout.present
    return np.ones((layout.size // 32, 32), bool) if present is None else present


def _member_reader(site: Site) -> Reader | None:
    """The member mask of a synchronised instruction, as u32; None for the old forms without."""
    if not site.operands:
        raise site.unsupported("no operand at all")
    if site.name in ("bar", "barrier"):
        return site.reader(site.operands[0], "u32")
    return site.reader(site.operands[-1], "u32") if "sync" in site.mods else None


def members_here(site: Site) -> Callable[[Group], bool]:
    """A check that no running lane named by a member mask of the group is elsewhere."""
    member = _member_reader(site)
    assert member is not None

    def check(g: Group) -> bool:
        active = _active_rows(g)
        bits = np.where(active, warp_rows(g, member(g)), np.uint32(0))
        wanted = lane_mask(np.bitwise_or.reduce(bits, axis=1))
        return not (wanted & g.machine.running.rows(g.layout) & ~active).any()

    return check


def _telling(site: Site, sources: Sources | None = None) -> Step:
    """Tells sinks that lanes synchronise; `sources` gives, as rows, whom they shuffle from."""
    member, at = _member_reader(site), Place.of(site.instruction)

    def tell(g: Group) -> None:
        told = g.machine.told.warp_sync
        if not told or member is None:
            return
        read = () if sources is None else (g.layout.from_warp_rows(sources(g)),)
        found = sync_of(at, g, member(g), *read)
        for hear in told:
            hear(found)

    return tell


def _parties(g: Group, member: Reader | None) -> Iterator[Bool]:
    """(N, 32) masks of the lanes that exchange values: lanes of a warp with one member mask."""
    left = _active_rows(g)
    masks = None if member is None else member(g)
    if masks is None or masks.size == 1:
        yield left
        return
    rows = warp_rows(g, masks)
    while left.any():
        leader = np.take_along_axis(rows, left.argmax(axis=1, keepdims=True), axis=1)
        party = left & (rows == leader)
        yield party
        left = left & ~party


def _joined(party: Bool, found: Results, others: Results) -> Results:
    return tuple(np.where(party, new, old) for new, old in zip(found, others, strict=True))


def _collective(site: Site, kinds: tuple[str, ...], compute: Compute) -> Step:
    """A step that computes results, each (N, 32) or (N, 1), for each party of each warp."""
    member, tell = _member_reader(site), _telling(site)
    puts = site.writers(site.operands[0], kinds)

    def step(g: Group) -> None:
        tell(g)
        results: Results = ()
        for party in _parties(g, member):
            found = compute(g, party)
            results = _joined(party, found, results) if results else found
        for put, rows in zip(puts, results, strict=False):
            put(g, g.layout.from_warp_rows(np.broadcast_to(rows, (len(rows), LANES))))

    return step


def _shfl(site: Site) -> Step:
    mode = next(m for m in site.mods if m in ("up", "down", "bfly", "idx"))
    target, *sources = site.operands
    value, lane, clamp = (site.reader(o, "b32") for o in sources[:3])
    puts = site.writers(target, ("b32", "pred"))

    def whom(g: Group) -> Array:
        b, c = warp_rows(g, lane(g)), warp_rows(g, clamp(g))
        return warp_ops.sources(mode, b, c, b.shape)[0]

    tell = _telling(site, whom)

    def step(g: Group) -> None:
        tell(g)
        b, c = warp_rows(g, lane(g)), warp_rows(g, clamp(g))
        results = warp_ops.shfl(mode, warp_rows(g, value(g)), b, c, _active_rows(g))
        for put, rows in zip(puts, results, strict=False):
            put(g, g.layout.from_warp_rows(rows))

    return step


def _vote(site: Site) -> Step:
    mode = next(m for m in site.mods if m in ("all", "any", "uni", "ballot"))
    read = site.reader(site.operands[1], "pred")
    return _collective(
        site,
        ("b32" if mode == "ballot" else "pred",),
        lambda g, party: (warp_ops.vote(mode, warp_rows(g, read(g)), party),),
    )


def _match(site: Site) -> Step:
    mods = site.mods
    read = site.reader(site.operands[1], site.kind)

    def compute(g: Group, party: Bool) -> tuple[Array, ...]:
        rows = warp_rows(g, read(g))
        return (
            (warp_ops.match_any(rows, party),) if "any" in mods else warp_ops.match_all(rows, party)
        )

    return _collective(site, ("b32", "pred"), compute)


def _redux(site: Site) -> Step:
    operation, *flags, kind = (m for m in site.mods if m != "sync")
    if operation not in warp_ops.REDUCTIONS:
        raise site.unsupported(f"the operation {operation}")
    read = site.reader(site.operands[1], kind)

    def compute(g: Group, party: Bool) -> Results:
        return (warp_ops.redux(operation, kind, warp_rows(g, read(g)), party, tuple(flags)),)

    return _collective(site, (kind,), compute)


def _warp_barrier(site: Site) -> Step | None:
    """bar.warp.sync: the wait is at the start of its block."""
    return _telling(site) if "warp" in site.mods else None


STEPS: dict[str, Builder] = {
    "bar": _warp_barrier,
    "barrier": _warp_barrier,
    "shfl": _shfl,
    "vote": _vote,
    "match": _match,
    "redux": _redux,
    "activemask": lambda site: _collective(
        site, ("b32",), lambda g, party: (warp_ops.activemask(party),)
    ),
    "elect": lambda site: _collective(
        site, ("b32", "pred"), lambda g, party: warp_ops.elect(party)
    ),
}
