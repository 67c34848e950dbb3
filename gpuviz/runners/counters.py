"""Which hardware counters measure what `gpuviz.memory.counting` predicts, chip by chip.

A key is measured by the sum of one or more metrics, written with `+`; a metric that names no rollup
(`.avg` and so on) is read as `.sum`. Where chips differ, several forms are listed, best first, and
the first one whose metrics the chip has is taken. Metrics with `sass` in their names count patched
instructions and are exact; the others count events of the hardware, and those under keys that end
in `_raw` include arbitration between warps. Names: Nsight Compute, Kernel Profiling Guide, "Metrics
Decoder".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

_T = "l1tex__t_{}_pipe_lsu_mem_{}_op_{}"
_SASS_WAVES = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{}"
_RAW_WAVES = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}"
# Of the instructions with an active lane; smsp__inst_executed counts those without one too.
_SASS = "smsp__sass_inst_executed_op_{}_{}"
_SASS_SECTORS = "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_{}_op_{}"
_OPS = {"load": "ld", "store": "st", "atomic": "atom", "reduction": "red"}
_STAGES = {"requests": "requests", "sectors": "sectors", "lines": "set_accesses"}

Forms = tuple[str, ...]


def _tag_stage() -> Iterator[tuple[str, Forms]]:
    """Global and local accesses, counted at the tag stage of L1."""
    for space, ops in (("global", tuple(_OPS)), ("local", ("load", "store"))):
        for op in ops:
            for quantity, stage in _STAGES.items():
                yield f"{space}_{op}_{quantity}", (_T.format(stage, space, _OPS[op]),)


def _shared() -> Iterator[tuple[str, Forms]]:
    for op in ("load", "store", "atomic"):
        yield f"shared_{op}_requests", (f"smsp__inst_executed_op_shared_{_OPS[op]}",)
        yield f"shared_{op}_wavefronts", (_SASS_WAVES.format(_OPS[op]),)
        yield f"shared_{op}_wavefronts_raw", (_RAW_WAVES.format(_OPS[op]),)


_COPY = "smsp__sass_l1tex_t_{}_pipe_lsu_mem_global_op_ldgsts"
_OTHERS: dict[str, Forms] = {
    "global_copy_requests": (_COPY.format("requests"),),
    "global_copy_sectors": (_COPY.format("sectors"),),
    "shared_copy_requests": ("smsp__sass_inst_executed_op_ldgsts",),
    "shared_copy_wavefronts": (_SASS_WAVES.format("ldgsts"),),
    "constant_load_replays": ("sm__idc_divergent_instruction_replays",),
    "constant_cache_requests": ("idc__requests",),
    "instructions": ("smsp__inst_executed",),
    "duration_ns": ("gpu__time_duration",),
    "achieved_occupancy": ("sm__warps_active.avg.pct_of_peak_sustained_active",),  # in percent
    "l2_read_sectors": ("lts__t_sectors_op_read",),
    "l2_write_sectors": ("lts__t_sectors_op_write",),
    "dram_read_sectors": ("dram__sectors_read", "dram__sectors_op_read"),
    "dram_write_sectors": ("dram__sectors_write", "dram__sectors_op_write"),
}
FORMS: dict[str, Forms] = {**dict(_tag_stage()), **dict(_shared()), **_OTHERS}
"""Everything that is measured, by key."""


def _live() -> Iterator[tuple[str, Forms]]:
    for space, ops in (("global", tuple(_OPS)), ("local", ("load", "store"))):
        for op in ops:
            yield f"{space}_{op}_requests", (_SASS.format(space, _OPS[op]),)
            if op in ("load", "store"):
                yield f"{space}_{op}_sectors", (_SASS_SECTORS.format(space, _OPS[op]),)
    for key, forms in FORMS.items():
        if key.startswith("shared_") and "sass" in forms[0]:
            yield key, forms


LIVE_FORMS: dict[str, Forms] = dict(_live())
"""The keys that patched instructions count: all in one pass, hundreds of readings a second."""

_PANEL_KEYS = (
    "global_load_lines",
    "global_store_lines",
    "shared_load_requests",
    "shared_store_requests",
)

Which = Literal["live", "panel", "all"]
SETS: dict[Which, dict[str, Forms]] = {
    "live": LIVE_FORMS,
    "panel": {**LIVE_FORMS, **{key: FORMS[key] for key in _PANEL_KEYS}},
    "all": FORMS,
}
"""What can be asked for: the one-pass keys, those and what the counts panel needs besides, all."""

NOT_COMPARED = {
    "constant_cache_requests",  # uniform accesses and the kernel's parameters are among them
    "instructions",
    "duration_ns",
    "l2_read_sectors",
    "l2_write_sectors",
    "dram_read_sectors",
    "dram_write_sectors",
    "achieved_occupancy",  # an average over time and multiprocessors, idle ends included
}
"""Keys that are shown as measured, and that nothing is predicted for."""


# Copies that bypass L1 are missing from these keys: a launch that has some gets no reading.
_BYPASS = "smsp__sass_inst_executed_op_ldgsts_cache_bypass.sum"
_VOID = {"global_copy_sectors", "shared_copy_wavefronts"}
WHY_VOID = "the GPU does not count asynchronous copies that bypass L1 (cp.async.cg)"


def why_missing(key: str) -> str:
    """Why there is no reading under a key where others have one."""
    return WHY_VOID if key in _VOID else "this GPU has no counter for it"


def metrics_for(
    forms: Mapping[str, Forms], available: frozenset[str]
) -> dict[str, tuple[str, ...]]:
    """The metrics of each key that a chip with these base metrics can measure."""
    chosen = {key: _choose(listed, available) for key, listed in forms.items()}
    return {key: metrics for key, metrics in chosen.items() if metrics}


# Ratios of two counters, which only agree when both are of the same run of the kernel. Read among
# all others, CUPTI counted them in different passes: 118 % of the warp slots on an H200.
_ALONE = {"achieved_occupancy"}


def readings_of(metrics: Mapping[str, tuple[str, ...]]) -> tuple[dict[str, tuple[str, ...]], ...]:
    """The keys parted by what is read at a time: all that may be together, then each ratio."""
    together = {key: parts for key, parts in metrics.items() if key not in _ALONE}
    alone = ({key: parts} for key, parts in metrics.items() if key in _ALONE)
    return tuple(group for group in (together, *alone) if group)


def _choose(forms: Forms, available: frozenset[str]) -> tuple[str, ...]:
    for form in forms:
        parts = tuple(form.split("+"))
        if available.issuperset(part.partition(".")[0] for part in parts):
            return tuple(part if "." in part else f"{part}.sum" for part in parts)
    return ()


def all_metrics(
    metrics: Mapping[str, tuple[str, ...]], available: frozenset[str]
) -> tuple[str, ...]:
    """The metrics to read for these keys, each once."""
    wanted = dict.fromkeys(m for parts in metrics.values() for m in parts)
    if metrics.keys() & _VOID and _BYPASS.removesuffix(".sum") in available:
        wanted[_BYPASS] = None
    return tuple(wanted)


def combine(
    metrics: Mapping[str, tuple[str, ...]], values: Mapping[str, float]
) -> dict[str, float]:
    """Values by key from values by metric; what is no number, or not to be trusted, is left out."""
    found = {key: sum(values[m] for m in parts) for key, parts in metrics.items()}
    void = _VOID if values.get(_BYPASS) else set()
    return {key: value for key, value in found.items() if value == value and key not in void}
