"""What hovering says in the pictures of a matrix product."""

from __future__ import annotations

import numpy as np

from gpuviz.scenes.matmul_scene import Multiplication, Operand
from gpuviz.scenes.matmul_time import Moment
from gpuviz.scenes.matmul_words import number, times
from gpuviz.trace import I64

_FEW = 8


def element_tip(about: Multiplication, operand: Operand, element: int, count: int) -> str:
    """An element of M or N in global memory."""
    if element < 0:
        return f"beyond the edge of {operand.name}: guard lanes put a zero in its place"
    value = number(float(operand.value.ravel()[element]))
    naive, tiled = int(operand.naive[-1, element]), int(operand.tiled[-1, element])
    x, y = about.block
    lines = [f"{operand.written(element)} = {value}", f"read {times(count)} so far by block "
             f"({x},{y})", f"in all: naive {times(naive)}, tiled {times(tiled)}"]  # fmt: skip
    phase, thread = np.nonzero(operand.tile.element == element)
    if len(phase):
        lines.append(f"phase {phase[0] + 1}: loaded by {_thread(about, int(thread[0]))}")
    return "\n".join(lines)


def slot_tip(
    about: Multiplication, operand: Operand, moment: Moment, phase: int, slot: int, count: int
) -> str:
    """An element of a shared tile, and the lanes that read it now."""
    row, column = divmod(slot, about.sizes.tile)
    name = f"{operand.name}s[{row}][{column}]"
    if phase < 0:
        return f"{name}: nothing yet"
    element = int(operand.held[phase, slot])
    held = operand.written(element) if element >= 0 else "0, put there by a guard lane"
    lines = [f"{name} = {held}", f"read {times(count)} in phase {phase + 1}"]
    if moment.part == "multiply":
        readers = np.flatnonzero(operand.tile.reads[phase, moment.k] == slot)
        if len(readers):
            lines.append(f"k = {moment.k}: read by {_threads(about, readers)}")
    return "\n".join(lines)


def thread_tip(about: Multiplication, thread: int) -> str:
    """A thread of the block."""
    element = int(about.tiled.stored[thread])
    if element < 0:
        return f"{_thread(about, thread)}\nguard lane: it loads zeros and stores nothing"
    return f"{_thread(about, thread)}\ncomputes {_of_product(about, element)}"


def product_tip(about: Multiplication, element: int) -> str:
    """An element of P."""
    if element < 0:
        return "beyond the edge of P: nothing is stored"
    row, column = divmod(element, about.sizes.columns)
    block = f"block ({column // about.sizes.tile},{row // about.sizes.tile})"
    value = number(float(about.product[row, column]))
    return f"{_of_product(about, element)} = {value} in the end\ncomputed by {block}"


def _of_product(about: Multiplication, element: int) -> str:
    row, column = divmod(element, about.sizes.columns)
    return f"P[{row}][{column}]"


def _thread(about: Multiplication, thread: int) -> str:
    """A thread with its lane."""
    y, x = divmod(thread, about.sizes.tile)
    return f"thread ({x},{y}), warp {thread // 32} lane {thread % 32}"


def _threads(about: Multiplication, threads: I64) -> str:
    """Some threads, the first few by name."""
    names = [f"({t % about.sizes.tile},{t // about.sizes.tile})" for t in threads[:_FEW].tolist()]
    more = f" and {len(threads) - _FEW} more" if len(threads) > _FEW else ""
    return f"threads {', '.join(names)}{more}"
