"""What hovering says in the pictures of a matrix product."""

from __future__ import annotations

import numpy as np

from gpuviz.arrays import I64
from gpuviz.language import tr
from gpuviz.scenes.matmul.scene import Multiplication, Operand
from gpuviz.scenes.matmul.time import Moment
from gpuviz.scenes.matmul.words import number, times

_FEW = 8


def element_tip(about: Multiplication, operand: Operand, element: int, count: int) -> str:
    """An element of M or N in global memory."""
    if element < 0:
        return tr(
            "beyond the edge of {name}: guard lanes put a zero in its place", name=operand.name
        )
    value = number(float(operand.value.ravel()[element]))
    naive, tiled = int(operand.naive[-1, element]), int(operand.tiled[-1, element])
    x, y = about.block
    lines = [
        f"{operand.written(element)} = {value}",
        tr("read {times} so far by block ({x},{y})", times=times(count), x=x, y=y),
        tr("in all: naive {a}, tiled {b}", a=times(naive), b=times(tiled)),
    ]
    phase, thread = np.nonzero(operand.tile.element == element)
    if len(phase):
        lines.append(
            tr("phase {n}: loaded by {who}", n=phase[0] + 1, who=_thread(about, int(thread[0])))
        )
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
    element = int(about.tiled.stored[thread])
    if element < 0:
        guard = tr("guard lane: it loads zeros and stores nothing")
        return f"{_thread(about, thread)}\n{guard}"
    does = tr("computes {element}", element=_of_product(about, element))
    return f"{_thread(about, thread)}\n{does}"


def product_tip(about: Multiplication, element: int) -> str:
    """An element of P."""
    if element < 0:
        return tr("beyond the edge of P: nothing is stored")
    row, column = divmod(element, about.sizes.columns)
    value = number(float(about.product[row, column]))
    x, y = column // about.sizes.tile, row // about.sizes.tile
    return "\n".join(
        (
            tr("{element} = {value} in the end", element=_of_product(about, element), value=value),
            tr("computed by block ({x},{y})", x=x, y=y),
        )
    )


def _of_product(about: Multiplication, element: int) -> str:
    row, column = divmod(element, about.sizes.columns)
    return f"P[{row}][{column}]"


def _thread(about: Multiplication, thread: int) -> str:
    """A thread with its lane."""
    y, x = divmod(thread, about.sizes.tile)
    return tr(
        "thread ({x},{y}), warp {warp} lane {lane}", x=x, y=y, warp=thread // 32, lane=thread % 32
    )


def readers(about: Multiplication, threads: I64) -> str:
    """Who reads: the first few by name."""
    names = [f"({t % about.sizes.tile},{t // about.sizes.tile})" for t in threads[:_FEW].tolist()]
    if len(threads) > _FEW:
        return tr(
            "read by threads {names} and {n} more", names=", ".join(names), n=len(threads) - _FEW
        )
    if len(threads) == 1:
        return tr("read by thread {name}", name=names[0])
    return tr("read by threads {names}", names=", ".join(names))
