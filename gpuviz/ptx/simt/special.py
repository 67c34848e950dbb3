"""Special registers: %tid, %ctaid, %laneid and the like, as lazily broadcast values."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

import numpy as np

from gpuviz.arrays import Array
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.simt.values import constant, container

Reader = Callable[[Group, str], Array]


class Shape(Protocol):
    """What is fixed for a launch, as far as special registers tell."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    dynamic_shared: int
    shared_size: int
    workspace: int


_AXES = {"x": 0, "y": 1, "z": 2}


def special_register(program: Shape, name: str) -> Reader | None:
    """The reader of a special register by its PTX name, None when there is no such register."""
    base, _, axis = name.partition(".")
    if axis in _AXES and base in _VECTOR:
        return partial(_VECTOR[base], program, _AXES[axis])
    if name in _SCALAR:
        return partial(_SCALAR[name], program)
    if name.startswith("%envreg") or name.startswith("%pm"):
        return lambda g, kind: constant(0, kind)
    return None


def _split(linear: Array, sizes: tuple[int, int, int], axis: int) -> Array:
    if axis == 0:
        return np.asarray(linear % sizes[0])
    if axis == 1:
        return np.asarray(linear // sizes[0] % sizes[1])
    return np.asarray(linear // (sizes[0] * sizes[1]))


def _tid(program: Shape, axis: int, g: Group, kind: str) -> Array:
    if program.block[axis] == 1:
        return constant(0, kind)
    return _split(g.view.column, program.block, axis).astype(container(kind))


def _ctaid(program: Shape, axis: int, g: Group, kind: str) -> Array:
    if program.grid[axis] == 1:
        return constant(0, kind)
    return _split(g.view.row + g.machine.first_block, program.grid, axis).astype(container(kind))


def _size_of(field: str, program: Shape, axis: int, g: Group, kind: str) -> Array:
    return constant(getattr(program, field)[axis], kind)


def _one(program: Shape, axis: int, g: Group, kind: str) -> Array:
    return constant(1, kind)


def _none(program: Shape, axis: int, g: Group, kind: str) -> Array:
    return constant(0, kind)


_VECTOR: dict[str, Callable[..., Array]] = {
    "%tid": _tid,
    "%ntid": partial(_size_of, "block"),
    "%ctaid": _ctaid,
    "%nctaid": partial(_size_of, "grid"),
    "%clusterid": _ctaid,
    "%nclusterid": partial(_size_of, "grid"),
    "%cluster_ctaid": _none,
    "%cluster_nctaid": _one,
}


def _of_column(function: Callable[[Array], Array]) -> Callable[..., Array]:
    def read(program: Shape, g: Group, kind: str) -> Array:
        return function(g.view.column).astype(container(kind))

    return read


def _lane_mask(compare: Callable[[Array, Array], Array]) -> Callable[[Array], Array]:
    lanes = np.arange(32)
    bits = np.uint64(1) << lanes.astype(np.uint64)
    table = np.where(compare(lanes, lanes[:, None]), bits, np.uint64(0)).sum(axis=1)
    return lambda column: np.asarray(table[column % 32])


def _fixed(value: Callable[[Shape], int]) -> Callable[..., Array]:
    return lambda program, g, kind: constant(value(program), kind)


def _clock(program: Shape, g: Group, kind: str) -> Array:
    """Not a time: the number of instructions the batch has executed so far."""
    return constant(g.machine.clock(), kind)


def _threads(program: Shape) -> int:
    return program.block[0] * program.block[1] * program.block[2]


_SCALAR: dict[str, Callable[..., Array]] = {
    "%laneid": _of_column(lambda c: c % 32),
    "%warpid": _of_column(lambda c: c // 32),
    "%nwarpid": _fixed(lambda p: -(-_threads(p) // 32)),
    "WARP_SZ": _fixed(lambda p: 32),
    "%smid": _fixed(lambda p: 0),
    "%nsmid": _fixed(lambda p: 1),
    "%gridid": _fixed(lambda p: 1),
    "%is_explicit_cluster": _fixed(lambda p: 0),
    "%cluster_ctarank": _fixed(lambda p: 0),
    "%cluster_nctarank": _fixed(lambda p: 1),
    "%lanemask_eq": _of_column(_lane_mask(np.equal)),
    "%lanemask_lt": _of_column(_lane_mask(np.less)),
    "%lanemask_le": _of_column(_lane_mask(np.less_equal)),
    "%lanemask_gt": _of_column(_lane_mask(np.greater)),
    "%lanemask_ge": _of_column(_lane_mask(np.greater_equal)),
    "%envreg1": _fixed(lambda p: p.workspace >> 32),  # as cooperative_groups/details/driver_abi.h
    "%envreg2": _fixed(lambda p: p.workspace & 0xFFFFFFFF),
    "%clock": _clock,
    "%clock_hi": _fixed(lambda p: 0),
    "%clock64": _clock,
    "%globaltimer": _clock,
    "%globaltimer_lo": _clock,
    "%globaltimer_hi": _fixed(lambda p: 0),
    "%dynamic_smem_size": _fixed(lambda p: p.dynamic_shared),
    "%total_smem_size": _fixed(lambda p: p.shared_size),
    "%aggr_smem_size": _fixed(lambda p: p.shared_size),
}
