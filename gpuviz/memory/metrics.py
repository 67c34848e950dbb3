"""What the hardware counts of memory accesses, and why it may differ from what is predicted.

Metrics are Nsight Compute's (Kernel Profiling Guide, "Metrics Decoder"). Those with `sass` in their
names count patched instructions and are exact; the others count events of the hardware.
"""

from dataclasses import dataclass, replace

from gpuviz.words.language import later

RAW = "_raw"  # ends the name of a reading of `Hardware.noisy`
_OPCODES = {
    "load": "ld",
    "store": "st",
    "atomic": "atom",
    "reduction": "red",
    "copy": "ldgsts",
    "matrix": "mma",
}


_UNKNOWN = later("no cause is known: please report it with the copied counts")
_SCATTERED = later(
    "scattered repeats of one address are merged by chance, in 1 to 2 % of the lines"
)
_BYPASSING = later("asynchronous copies that bypass L1 are counted by other units")
_IN_REGISTERS = later("the assembler decides which local arrays live in registers")
_ARBITRATION = later("arbitration between warps may add passes")
_RETRIES = later(
    "additions of floats are loops that try again when lanes meet, and how "
    "often they meet is chance"
)


@dataclass(frozen=True)
class Hardware:
    """A counter of the hardware; in names of metrics stand `{space}` and `{op}`, the opcode."""

    metric: str  # what should equal the prediction
    # The same, read in one pass with everything else that has such a metric; "" for none.
    live: str = ""
    # The same with arbitration between warps, read beside it under a name with `RAW`.
    noisy: str = ""
    # What is added to `metric`, and to `live`, where the chip has it: matrices are loaded and
    # stored by instructions that these do not count.
    besides: str = ""
    less: str = ""  # what is taken off `metric`, where the chip has it
    panel: bool = False  # `metric` is read besides the live ones while a lesson is explored
    # Copies that bypass L1 are missing, so a launch that has some gets no reading.
    lost_past_l1: bool = False
    cause: str = _UNKNOWN  # why it may differ all the same


def named(metric: str, space: str, op: str) -> str:
    """A metric's name for one kind of access."""
    return metric.format(space=space, op=_OPCODES[op])


# Counted at the tag stage of L1. Patched: of the instructions with an active lane, where
# smsp__inst_executed counts those without one too.
REQUESTS = Hardware(
    "l1tex__t_requests_pipe_lsu_mem_{space}_op_{op}",
    live="smsp__sass_inst_executed_op_{space}_{op}",
)
SECTORS = Hardware(
    "l1tex__t_sectors_pipe_lsu_mem_{space}_op_{op}",
    live="smsp__sass_l1tex_t_sectors_pipe_lsu_mem_{space}_op_{op}",
)
LINES = Hardware("l1tex__t_set_accesses_pipe_lsu_mem_{space}_op_{op}", panel=True)
ATOMIC_SECTORS = replace(SECTORS, live="")
ATOMIC_LINES = replace(LINES, panel=False, cause=_SCATTERED)
LOCAL_REQUESTS = replace(REQUESTS, cause=_IN_REGISTERS)
LOCAL_SECTORS = replace(SECTORS, cause=_IN_REGISTERS)
LOCAL_LINES = replace(LINES, panel=False, cause=_IN_REGISTERS)

COPY_REQUESTS = Hardware(
    "smsp__sass_l1tex_t_requests_pipe_lsu_mem_{space}_op_{op}", cause=_BYPASSING
)
COPY_SECTORS = Hardware(
    "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_{space}_op_{op}", lost_past_l1=True, cause=_BYPASSING
)

ISSUED = Hardware("smsp__inst_executed_op_{space}_{op}", panel=True)
WAVEFRONTS = Hardware(
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_{space}_op_{op}",
    live="smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_{space}_op_{op}",
    noisy="l1tex__data_pipe_lsu_wavefronts_mem_{space}_op_{op}",
    cause=_ARBITRATION,
)
SHARED_LOADS = replace(ISSUED, besides="smsp__inst_executed_op_ldsm")
SHARED_STORES = replace(ISSUED, besides="smsp__inst_executed_op_shared_stsm")
SHARED_LOAD_WAVEFRONTS = replace(
    WAVEFRONTS, besides="smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm"
)
SHARED_STORE_WAVEFRONTS = replace(
    WAVEFRONTS, besides="smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_stsm"
)
SHARED_ATOMICS = replace(ISSUED, panel=False, cause=_RETRIES)
SHARED_ATOMIC_WAVEFRONTS = replace(WAVEFRONTS, cause=_RETRIES)
COPIES_ISSUED = Hardware(
    "smsp__sass_inst_executed_op_{op}", live="smsp__sass_inst_executed_op_{op}"
)
REPLAYS = Hardware("sm__idc_divergent_instruction_replays")  # passes beyond the first
COPY_WAVEFRONTS = replace(WAVEFRONTS, noisy="", lost_past_l1=True)

# Bulk copies, between L1 and L2; instructions are patched. They take no pass more than the others.
BULK_REQUESTS = Hardware("smsp__sass_inst_executed_op_tma_{op}", panel=True)
BULK_READ = Hardware("l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_{op}", panel=True)
BULK_WRITTEN = Hardware("l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_{op}", panel=True)
# What wgmma reads of shared memory.
MATRIX_REQUESTS = Hardware("smsp__sass_inst_executed_op_shared_gmma")
MATRIX_WAVEFRONTS = Hardware("sm__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_gmma")

# Constants are put into registers by HFMA2.MMA, which runs on the same pipe and multiplies nothing.
TENSOR = Hardware(
    "smsp__inst_executed_pipe_tensor",
    less="smsp__inst_executed_pipe_tensor_op_hmma_type_hfma2",
    panel=True,
)
