"""What profilers call a count: nvprof and the profiler before it, and Nsight Compute today.

Sources: the Nsight Compute CLI guide, 2024.2, 4.6.3, table 11 (metric comparison), for names of
nvprof and today's; for the counters before it which of them each chip has, as envytools lists the
signals of NVIDIA's own libraries, and the output of the profiler in the course's slides (S2).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpuviz.memory.counts import Count, find
from gpuviz.memory.hardware import named

SOURCES = (
    "nvprof and Nsight Compute: Nsight Compute CLI, 2024.2, 4.6.3 Metric Comparison, table 11 "
    "(docs.nvidia.com/nsight-compute/NsightComputeCli). Wavefronts of shared memory stand there as "
    "`l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld` (`_st`): gpuviz reads the same of patched "
    "instructions, which other warps do not disturb.",
    "The profiler before it: the signals that each chip has, from 1.1 to GF119, as envytools lists "
    "them (docs: Compute Capability); `gputime` and `occupancy` are columns of its output, in "
    "“CUDA 2da parte”.",
)


@dataclass(frozen=True)
class Names:
    """What a quantity is called: by nvprof, by the profiler before it, by Nsight Compute.

    `key` is gpuviz's own name. Where a name is missing the sources have none.
    """

    key: str
    nvprof: str = ""
    before: str = ""
    metric: str = ""

    @property
    def today(self) -> str:
        """The metric of Nsight Compute, "" where none counts it."""
        count = find(self.key)
        if self.metric or count is None or count.on_gpu is None:
            return self.metric
        return f"{named(count.on_gpu.metric, *count.kind)}.sum"


_SIZES = "{0}_32b, {0}_64b, {0}_128b (CC 1.2); {0}_coherent, {0}_incoherent (CC 1.1)"
_LOADS, _STORES = _SIZES.format("gld"), _SIZES.format("gst")
_INSTRUCTIONS = "instructions (CC 1.x), inst_executed (CC 2.x)"

NAMES = (
    Names(Count.GLOBAL_LOAD_REQUESTS, "global_load_requests", "gld_request (CC 1.2 on)"),
    Names(Count.GLOBAL_LOAD_SECTORS, "gld_transactions", _LOADS),
    Names(Count.GLOBAL_STORE_REQUESTS, "global_store_requests", "gst_request (CC 1.2 on)"),
    Names(Count.GLOBAL_STORE_SECTORS, "gst_transactions", _STORES),
    Names(Count.LOCAL_LOAD_REQUESTS, "local_load_requests", "local_load"),
    Names(Count.LOCAL_LOAD_SECTORS, "local_load_transactions"),
    Names(Count.LOCAL_STORE_REQUESTS, "local_store_requests", "local_store"),
    Names(Count.LOCAL_STORE_SECTORS, "local_store_transactions"),
    Names(Count.SHARED_LOAD_REQUESTS, "inst_executed_shared_loads", "shared_load (CC 2.x)"),
    Names(Count.SHARED_LOAD_WAVEFRONTS, "shared_load_transactions"),
    Names(Count.SHARED_STORE_REQUESTS, "inst_executed_shared_stores", "shared_store (CC 2.x)"),
    Names(Count.SHARED_STORE_WAVEFRONTS, "shared_store_transactions"),
    Names("instructions", "inst_executed", _INSTRUCTIONS, "smsp__inst_executed.sum"),
    Names("branch_targets", "", "branch", "smsp__sass_branch_targets.sum"),
    Names(
        "branch_targets_uniform",
        "branch_efficiency (its share)",
        "divergent_branch (the rest)",
        "smsp__sass_branch_targets_threads_uniform.sum",
    ),
    Names("duration_ns", "", "gputime", "gpu__time_duration.sum"),
    Names(
        "achieved_occupancy",
        "achieved_occupancy",
        "occupancy (what is possible)",
        "sm__warps_active.avg.pct_of_peak_sustained_active",
    ),
    Names(
        "l2_to_l1_sectors",
        "",
        "l1_global_load_miss (CC 2.x: lines)",
        "l1tex__m_xbar2l1tex_read_sectors_mem_lg_op_ld.sum",
    ),
    Names(
        "l2_read_sectors", "l2_read_transactions (atomics, too)", "", "lts__t_sectors_op_read.sum"
    ),
    Names(
        "l2_write_sectors",
        "l2_write_transactions (atomics, too)",
        "",
        "lts__t_sectors_op_write.sum",
    ),
    Names("dram_read_sectors", "dram_read_transactions", "", "dram__sectors_read.sum"),
    Names("dram_write_sectors", "dram_write_transactions", "", "dram__sectors_write.sum"),
)
"""Quantities that profilers of old have a name for."""

_BY_KEY: Mapping[str, Names] = {str(one.key): one for one in NAMES}


def names_of(key: str) -> Names:
    """What profilers call a count; of others than the table's, what Nsight Compute does."""
    return _BY_KEY.get(key, Names(key))
