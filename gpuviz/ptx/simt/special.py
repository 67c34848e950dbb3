"""Special registers: %tid, %ctaid, %laneid and the like, as lazily broadcast values."""

from collections.abc import Callable
from functools import partial

import numpy as np

from gpuviz.base.arrays import Array
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.simt.program import RESERVED, SHARED_UNIT, Program
from gpuviz.ptx.simt.values import constant, container

Reader = Callable[[Group, str], Array]


_AXES = {"x": 0, "y": 1, "z": 2}
_GROUPS = 288  # bytes that cooperative groups have of the system's part of shared memory


def special_register(program: Program, name: str) -> Reader | None:
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


def _tid(program: Program, axis: int, g: Group, kind: str) -> Array:
    if program.block[axis] == 1:
        return constant(0, kind)
    return _split(g.layout.column, program.block, axis).astype(container(kind))


def _ctaid(program: Program, axis: int, g: Group, kind: str) -> Array:
    if program.grid[axis] == 1:
        return constant(0, kind)
    number = program.block_numbers(g.layout.row + g.layout.first_block)
    return _split(number, program.grid, axis).astype(container(kind))


def _size_of(field: str, program: Program, axis: int, g: Group, kind: str) -> Array:
    return constant(getattr(program, field)[axis], kind)


def _clusterid(program: Program, axis: int, g: Group, kind: str) -> Array:
    size = container(kind).type(program.cluster.shape[axis])
    return np.asarray(_ctaid(program, axis, g, kind) // size)


def _cluster_ctaid(program: Program, axis: int, g: Group, kind: str) -> Array:
    size = container(kind).type(program.cluster.shape[axis])
    return np.asarray(_ctaid(program, axis, g, kind) % size)


def _nclusterid(program: Program, axis: int, g: Group, kind: str) -> Array:
    return constant(program.grid[axis] // program.cluster.shape[axis], kind)


def _cluster_nctaid(program: Program, axis: int, g: Group, kind: str) -> Array:
    return constant(program.cluster.shape[axis], kind)


def _cluster_rank(program: Program, g: Group, kind: str) -> Array:
    if program.cluster.size == 1:
        return constant(0, kind)
    return program.cluster.rank(g.layout.row + g.layout.first_block).astype(container(kind))


_VECTOR: dict[str, Callable[..., Array]] = {
    "%tid": _tid,
    "%ntid": partial(_size_of, "block"),
    "%ctaid": _ctaid,
    "%nctaid": partial(_size_of, "grid"),
    "%clusterid": _clusterid,
    "%nclusterid": _nclusterid,
    "%cluster_ctaid": _cluster_ctaid,
    "%cluster_nctaid": _cluster_nctaid,
}


def _of_column(function: Callable[[Array], Array]) -> Callable[..., Array]:
    def read(program: Program, g: Group, kind: str) -> Array:
        return function(g.layout.column).astype(container(kind))

    return read


def _lane_mask(compare: Callable[[Array, Array], Array]) -> Callable[[Array], Array]:
    lanes = np.arange(32)
    bits = np.uint64(1) << lanes.astype(np.uint64)
    table = np.where(compare(lanes, lanes[:, None]), bits, np.uint64(0)).sum(axis=1)
    return lambda column: np.asarray(table[column % 32])


def _fixed(value: Callable[[Program], int]) -> Callable[..., Array]:
    return lambda program, g, kind: constant(value(program), kind)


def _clock(program: Program, g: Group, kind: str) -> Array:
    """Not a time: the number of instructions the launch has executed so far."""
    return constant(g.machine.execution.thread_instructions, kind)


def _threads(program: Program) -> int:
    return program.block[0] * program.block[1] * program.block[2]


_SCALAR: dict[str, Callable[..., Array]] = {
    "%laneid": _of_column(lambda c: c % 32),
    "%warpid": _of_column(lambda c: c // 32),
    "%nwarpid": _fixed(lambda p: -(-_threads(p) // 32)),
    "WARP_SZ": _fixed(lambda p: 32),
    "%smid": _fixed(lambda p: 0),
    "%nsmid": _fixed(lambda p: 1),
    "%gridid": _fixed(lambda p: 1),
    "%is_explicit_cluster": _fixed(lambda p: int(p.cluster.size > 1)),
    "%cluster_ctarank": _cluster_rank,
    "%cluster_nctarank": _fixed(lambda p: p.cluster.size),
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
    # As on an H200, but that the system's part is the first there, and the last here.
    "%total_smem_size": _fixed(lambda p: -(-p.own_shared // SHARED_UNIT) * SHARED_UNIT),
    "%aggr_smem_size": _fixed(lambda p: p.own_shared + RESERVED),
    "%reserved_smem_offset_begin": _fixed(lambda p: p.reserved),
    "%reserved_smem_offset_end": _fixed(lambda p: p.reserved + _GROUPS),
    "%reserved_smem_offset_cap": _fixed(lambda p: p.reserved + RESERVED),
    "%reserved_smem_offset_0": _fixed(lambda p: p.reserved),
    "%reserved_smem_offset_1": _fixed(lambda p: p.reserved),
}
