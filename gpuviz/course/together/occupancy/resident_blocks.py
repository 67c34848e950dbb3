"""What a GPU says of the blocks that reside on one multiprocessor.

Its driver's answer, its counter of active warps, and how many blocks it held at once: that last
from when and where each one ran.
"""

from dataclasses import dataclass

import numpy as np

from gpuviz.arch import architecture
from gpuviz.recordings.measurement import Measurement, Placement
from gpuviz.run.run import Run
from gpuviz.words.language import grouped, tr, trn

_MOST = 100.0  # percent; a ratio of counters that were read in different passes can exceed it


def most_at_once(placement: Placement) -> int:
    """The largest number of blocks that ran on one multiprocessor at the same time.

    A block that ends at the moment another starts has made room for it.
    """
    moments = np.concatenate([placement.start_ns, placement.end_ns])
    change = np.repeat([1, -1], len(placement.block))
    sm = np.concatenate([placement.sm, placement.sm])
    order = np.lexsort((change, moments, sm))
    # Every block that started on a multiprocessor has ended on it: the sum starts over at 0.
    return int(np.cumsum(change[order]).max(initial=0))


@dataclass(frozen=True)
class MeasuredBlocks:
    """What was measured: blocks at once, the badge, and wordings from long to short."""

    blocks: int | None
    badge: str
    texts: tuple[str, ...]


def _measured(run: Run) -> tuple[Measurement | None, int, str]:
    """What was measured, of how many blocks, and how big that launch is: the companion's."""
    beside = run.companion
    if beside is None or beside.measurement is None or beside.measurement.placement is None:
        return run.measurement, run.trace.launch.blocks, ""
    return beside.measurement, len(beside.measurement.placement.block), beside.size


def resident_of(run: Run) -> MeasuredBlocks:
    """What a GPU's run of this launch tells."""
    measurement, grid, size = _measured(run)
    placement = measurement.placement if measurement is not None else None
    if measurement is None or placement is None:
        return MeasuredBlocks(
            None,
            tr("unavailable"),
            (
                tr("blocks at once on one multiprocessor: no GPU and no recording"),
                tr("measured: no GPU and no recording"),
            ),
        )
    blocks, device = most_at_once(placement), measurement.gpu
    sms = measurement.device.multiprocessors
    of = trn("{n} block", "{n} blocks", grid, n=grouped(grid))
    of = f"{size}, {of}" if size else of
    return MeasuredBlocks(
        blocks,
        measurement.badge,
        (
            trn(
                "at most {n} block at once on one of {sms} multiprocessors; {of}, {device}",
                "at most {n} blocks at once on one of {sms} multiprocessors; {of}, {device}",
                blocks,
                of=of,
                sms=sms,
                device=device,
            ),
            trn(
                "at most {n} block at once, {device}",
                "at most {n} blocks at once, {device}",
                blocks,
                device=device,
            ),
        ),
    )


@dataclass(frozen=True)
class Answer:
    """The driver's answer beside the predicted one: a badge, and wordings from long to short.

    `agrees` is whether both are equal, None without an answer.
    """

    agrees: bool | None
    badge: str
    texts: tuple[str, ...]


def answer_of(run: Run, predicted: int) -> Answer:
    """What the driver and the achieved-occupancy counter say where `predicted` blocks fit."""
    found, grid, size = _measured(run)
    if found is None:
        return Answer(
            None,
            tr("unavailable"),
            (
                tr("the driver's answer and the achieved occupancy: no GPU and no recording"),
                tr("the driver's answer: no GPU and no recording"),
            ),
        )
    if architecture(run.arch).sm != found.device.sm:
        return Answer(
            None,
            tr("unavailable"),
            (
                tr(
                    "the driver's answer and the achieved occupancy: {device} has another "
                    "architecture",
                    device=found.gpu,
                ),
                tr("the driver's answer: {device} differs", device=found.gpu),
            ),
        )
    return _answer(found, grid, size, predicted)


def _answer(found: Measurement, grid: int, size: str, predicted: int) -> Answer:
    driver = found.resident_blocks
    read = found.values().get("achieved_occupancy")
    achieved = read if read is not None and read <= _MOST else None
    known = driver is not None or achieved is not None
    long, short = _driver(driver, predicted)
    brief = ", ".join(filter(None, (_achieved(achieved), size)))
    few = (
        achieved is not None and driver is not None and grid < driver * found.device.multiprocessors
    )
    why = (
        tr(
            "{achieved}, the grid being too small to fill {sms} multiprocessors",
            achieved=brief,
            sms=found.device.multiprocessors,
        )
        if few
        else brief
    )
    device = found.gpu
    return Answer(
        None if driver is None else driver == predicted,
        found.badge if known else tr("unavailable"),
        (
            f"{long}; {why} · {device}",
            f"{long}; {brief} · {device}",
            f"{short}; {brief} · {device}",
            f"{short}; {brief}",
            short,
        ),
    )


def _driver(driver: int | None, predicted: int) -> tuple[str, str]:
    """Predicted and answered, long and short."""
    if driver is None:
        none = tr("the driver's answer: unavailable")
        return none, none
    return (
        tr(
            "blocks on one multiprocessor: {n} predicted, {driver} by the driver",
            n=predicted,
            driver=driver,
        ),
        tr("blocks: {n} predicted, {driver} by the driver", n=predicted, driver=driver),
    )


def _achieved(percent: float | None) -> str:
    """The counter, in words."""
    if percent is None:
        return tr("achieved occupancy: unavailable")
    return tr("achieved occupancy {percent} %", percent=f"{percent:.1f}")
