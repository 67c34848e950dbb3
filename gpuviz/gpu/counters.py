"""Which hardware counters are read, under which names, chip by chip.

What `gpuviz.memory.counting` predicts is read under the names of `gpuviz.memory.counts`, which
tell the metrics; other counters have names of their own here. A reading is the sum of one or more
metrics, written with `+`, or `-` before what is taken off; a metric that names no rollup (`.avg`
and so on) is read as `.sum`. Where chips differ, several forms are listed, best first, and the
first one whose metrics the chip has is taken.
"""

import re
from collections.abc import Mapping
from typing import Literal

from gpuviz.memory.counts import Count
from gpuviz.memory.metrics import RAW, Hardware, named
from gpuviz.recordings import stall_reasons

Forms = tuple[str, ...]

ON_GPU: Mapping[Count, Hardware] = {count: count.on_gpu for count in Count if count.on_gpu}
"""What is predicted, and counted by a GPU."""


def _forms(
    metrics: Mapping[Count, str], ending: str = "", besides: bool = True
) -> dict[str, Forms]:
    """Those of the metrics that there are, by the names they are read under."""
    found: dict[str, Forms] = {}
    for count, metric in metrics.items():
        if metric:
            one, counter = named(metric, *count.kind), ON_GPU[count]
            forms = [f"{one}+{counter.besides}"] if besides and counter.besides else []
            forms += [f"{one}-{counter.less}"] if counter.less else []
            found[count.value + ending] = (*forms, one)
    return found


NOT_COMPARED: Mapping[str, Forms] = {
    # Uniform accesses and the kernel's parameters are among the requests.
    "constant_cache_requests": ("idc__requests",),
    "instructions": ("smsp__inst_executed",),
    "branch_targets": ("smsp__sass_branch_targets",),
    "branch_targets_uniform": ("smsp__sass_branch_targets_threads_uniform",),
    "duration_ns": ("gpu__time_duration",),
    # In percent; an average over time and multiprocessors, idle ends included.
    "achieved_occupancy": ("sm__warps_active.avg.pct_of_peak_sustained_active",),
    # What loads did not find in L1.
    "l2_to_l1_sectors": ("l1tex__m_xbar2l1tex_read_sectors_mem_lg_op_ld",),
    "l2_read_sectors": ("lts__t_sectors_op_read",),
    "l2_write_sectors": ("lts__t_sectors_op_write",),
    "dram_read_sectors": ("dram__sectors_read", "dram__sectors_op_read"),
    "dram_write_sectors": ("dram__sectors_write", "dram__sectors_op_write"),
}
"""What is shown as measured, and that nothing is predicted for."""

STALLS: Mapping[str, Forms] = {key: (metric,) for key, metric in stall_reasons.METRICS.items()}
"""Why warps wait; what is predicted beside it are kinds of waits (`stall_reasons`). Read among all
others these ratios came to the same as on their own, on an H200, and took no pass more.
"""

FORMS: Mapping[str, Forms] = {
    **_forms({count: counter.metric for count, counter in ON_GPU.items()}),
    **_forms({count: counter.noisy for count, counter in ON_GPU.items()}, RAW, False),
    **NOT_COMPARED,
    **STALLS,
}
"""Everything that is measured."""

LIVE_FORMS = _forms({count: counter.live for count, counter in ON_GPU.items()})
"""What patched instructions count: all in one pass, hundreds of readings a second."""

Which = Literal["live", "panel", "all"]
SETS: dict[Which, Mapping[str, Forms]] = {
    "live": LIVE_FORMS,
    "panel": {
        **LIVE_FORMS,
        **_forms({count: counter.metric for count, counter in ON_GPU.items() if counter.panel}),
    },
    "all": FORMS,
}
"""What can be asked for: what one pass reads, that and what the counts panel needs besides, all."""

# Copies that bypass L1 are missing from these keys: a launch that has some gets no reading.
_BYPASS = "smsp__sass_inst_executed_op_ldgsts_cache_bypass.sum"
_VOID = {count.value for count, counter in ON_GPU.items() if counter.lost_past_l1}
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


_SIGNS = re.compile(r"(?=[+-])")


def _metric(part: str) -> str:
    """The metric of a part, which is taken off where a minus stands before it."""
    return part.removeprefix("-")


def _choose(forms: Forms, available: frozenset[str]) -> tuple[str, ...]:
    for form in forms:
        parts = tuple(part.removeprefix("+") for part in _SIGNS.split(form))
        if available.issuperset(_metric(part).partition(".")[0] for part in parts):
            return tuple(part if "." in part else f"{part}.sum" for part in parts)
    return ()


def all_metrics(
    metrics: Mapping[str, tuple[str, ...]], available: frozenset[str]
) -> tuple[str, ...]:
    """The metrics to read for these keys, each once."""
    wanted = dict.fromkeys(_metric(m) for parts in metrics.values() for m in parts)
    if metrics.keys() & _VOID and _BYPASS.removesuffix(".sum") in available:
        wanted[_BYPASS] = None
    return tuple(wanted)


def combine(
    metrics: Mapping[str, tuple[str, ...]], values: Mapping[str, float]
) -> dict[str, float]:
    """Values by key from values by metric; what is no number, or not to be trusted, is left out."""
    found = {
        key: sum(-values[m[1:]] if m.startswith("-") else values[m] for m in parts)
        for key, parts in metrics.items()
    }
    void = _VOID if values.get(_BYPASS) else set()
    return {key: value for key, value in found.items() if value == value and key not in void}
