"""A multiprocessor as rows of slots that the blocks of a kernel fill, and how full it gets."""

from __future__ import annotations

from gpuviz.arch.occupancy_fit import Fit
from gpuviz.draw.ease import passed
from gpuviz.panels.slots import Resource, Slots
from gpuviz.words.language import grouped, tr


def slots_of(fit: Fit, arrived: float, tried: float) -> Slots:
    """The rows when so many blocks have arrived, and one more is tried, 0 to 1."""
    blocks = passed(arrived)
    resources = tuple(_resource(fit, number, blocks) for number in range(len(fit.slots)))
    return Slots(resources, fit.found.blocks, arrived, tried)


def title_of(fit: Fit) -> str:
    """How full it gets."""
    blocks, threads = fit.found.blocks, fit.demand.threads
    if blocks == 0:
        return tr("No block of {threads} threads fits", threads=threads)
    if blocks == 1:
        return tr(
            "One block of {threads} threads: {percent} of the warp slots",
            threads=threads,
            percent=fit.percent,
        )
    return tr(
        "{blocks} blocks of {threads} threads: {percent} of the warp slots",
        blocks=blocks,
        threads=threads,
        percent=fit.percent,
    )


def _resource(fit: Fit, number: int, blocks: int) -> Resource:
    """A row of slots when so many blocks are there."""
    one = fit.slots[number]
    lanes = one.need * fit.arch.warp
    warps = one.id == "warps"
    return Resource(
        one.name,
        one.name,
        one.capacity,
        one.need,
        one.room,
        one.id in fit.limiters,
        _used(fit, number, blocks),
        counted=one.id in ("warps", "blocks"),
        idle=(lanes - fit.demand.threads) / lanes if warps else 0.0,
        empty=warps,
    )


def _used(fit: Fit, number: int, blocks: int) -> tuple[str, ...]:
    """Used of capacity, in wordings from long to short."""
    one = fit.slots[number]
    if one.room is None:
        return ("",)
    used, all_, need = (grouped(n) for n in (blocks * one.need, one.capacity, one.need))
    brief, plain = f"{used} / {all_}", tr("{used} of {all}", used=used, all=all_)
    if one.id == "blocks":
        return plain, brief
    each = tr("{plain} · {need} a block", plain=plain, need=need)
    if one.id == "warps":
        own = -(-fit.demand.threads // fit.arch.warp)
        if own < one.need:  # slots are given out in twos: more are taken than warps are there
            given = tr(
                "{plain} taken · {need} a block for its {warps} warps",
                plain=plain,
                need=need,
                warps=own,
            )
            return given, tr("{plain} taken", plain=plain), plain, brief
        threads = grouped(blocks * fit.demand.threads)
        return tr("{each} · {threads} threads", each=each, threads=threads), each, plain, brief
    if one.id == "registers":
        return each, plain, brief
    said = tr("{plain} bytes · {need} a block", plain=plain, need=need)
    if fit.demand.shared == 0:  # what it is given all the same
        said = tr("{plain} bytes · {need} a block for the system", plain=plain, need=need)
    return said, each, plain, brief
