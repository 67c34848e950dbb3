"""What hovering says in the pictures of a matrix product, and how its numbers are written."""

import numpy as np

from gpuviz.base.arrays import I64
from gpuviz.course.together.matmul_common.block import Moment, Multiplication, Operand
from gpuviz.traces.trace import LANES
from gpuviz.words.language import grouped, tr

_FEW = 8  # threads that are named


def number(value: float) -> str:
    """A value: whole numbers in full, others in four digits."""
    return grouped(value) if value == round(value) and abs(value) < 1e9 else f"{value:.4g}"


def spaced(count: float) -> str:
    """A count, thousands apart by a thin space; small fractions in three digits."""
    exact = count == round(count) or count >= 1000
    return grouped(count) if exact else f"{count:.3g}"


def times(count: int) -> str:
    """`once`, `twice`, `4 times`."""
    return {1: tr("once"), 2: tr("twice")}.get(count) or tr("{n} times", n=count)


def lane_of(thread: int, tile: int) -> str:
    """A thread of a block with its lane."""
    return tr(
        "thread ({x},{y}), warp {warp} lane {lane}",
        x=thread % tile,
        y=thread // tile,
        warp=thread // LANES,
        lane=thread % LANES,
    )


def readers(about: Multiplication, threads: I64) -> str:
    """Who reads: the first few by name."""
    tile = about.sizes.tile
    names = [f"({t % tile},{t // tile})" for t in threads[:_FEW].tolist()]
    if len(threads) > _FEW:
        more = len(threads) - _FEW
        return tr("read by threads {names} and {n} more", names=", ".join(names), n=more)
    if len(threads) == 1:
        return tr("read by thread {name}", name=names[0])
    return tr("read by threads {names}", names=", ".join(names))


def element_tip(about: Multiplication, operand: Operand, element: int, count: int) -> str:
    """An element of M or N in global memory."""
    if element < 0:
        return tr(
            "beyond the edge of {name}: guard lanes put a zero in its place", name=operand.name
        )
    naive, tiled = int(operand.naive[-1, element]), int(operand.tiled[-1, element])
    x, y = about.block
    lines = [
        f"{operand.written(element)} = {number(operand.of(element))}",
        tr("read {times} so far by block ({x},{y})", times=times(count), x=x, y=y),
        tr("in all: naive {a}, tiled {b}", a=times(naive), b=times(tiled)),
    ]
    phase, thread = np.nonzero(operand.tile.element == element)
    if len(phase):
        who = lane_of(int(thread[0]), about.sizes.tile)
        lines.append(tr("phase {n}: loaded by {who}", n=phase[0] + 1, who=who))
    return "\n".join(lines)


def slot_tip(
    about: Multiplication, operand: Operand, moment: Moment, phase: int, slot: int, count: int
) -> str:
    """An element of a shared tile, and the lanes that read it now."""
    row, column = divmod(slot, about.sizes.tile)
    name = f"{operand.name}s[{row}][{column}]"
    if phase < 0:
        return tr("{name}: nothing yet", name=name)
    element = int(operand.held[phase, slot])
    held = operand.written(element) if element >= 0 else tr("0, put there by a guard lane")
    lines = [f"{name} = {held}", tr("read {times} in phase {n}", times=times(count), n=phase + 1)]
    if moment.part == "multiply":
        who = np.flatnonzero(operand.tile.reads[phase, moment.k] == slot)
        if len(who):
            lines.append(f"k = {moment.k}: {readers(about, who)}")
    return "\n".join(lines)


def thread_tip(about: Multiplication, thread: int) -> str:
    """A thread of the block."""
    element, who = int(about.tiled.stored[thread]), lane_of(thread, about.sizes.tile)
    if element < 0:
        return f"{who}\n{tr('guard lane: it loads zeros and stores nothing')}"
    return f"{who}\n{tr('computes {element}', element=about.written(element))}"


def product_tip(about: Multiplication, element: int) -> str:
    """An element of P."""
    if element < 0:
        return tr("beyond the edge of P: nothing is stored")
    row, column = divmod(element, about.sizes.columns)
    value, tile = number(float(about.product[row, column])), about.sizes.tile
    ends = tr("{element} = {value} in the end", element=about.written(element), value=value)
    return f"{ends}\n{tr('computed by block ({x},{y})', x=column // tile, y=row // tile)}"
