"""What of a kernel the model of time does not know; what its bulk copies read of memory."""

from __future__ import annotations

from gpuviz.memory.counts import Count
from gpuviz.ptx.simt.program import reachable
from gpuviz.ptx.text.ir import Function, Instruction, Module
from gpuviz.run.run import Run
from gpuviz.timing.traffic import runs_of

_SECTOR = 32


def not_timed(module: Module, kernel: Function) -> str:
    """Why no time can be predicted for a kernel, "" when one can."""
    body = [i for f in reachable(module, kernel) for i in f.body]
    if not any(i.opcode.name == "mbarrier" or "bulk" in i.opcode.mods for i in body):
        return ""
    for one in body:
        if reason := _unknown(one):
            return reason
    return ""


def _unknown(one: Instruction) -> str:
    name, mods = one.opcode.name, one.opcode.mods
    together = name in ("mapa", "getctarank") or (name == "barrier" and "cluster" in mods)
    if together or "multicast::cluster" in mods:
        return "blocks of a cluster that wait for each other are not modelled"
    if "bulk" in mods and "mbarrier::complete_tx::bytes" not in mods and "prefetch" not in mods:
        return "how long bulk copies out of shared memory take is not modelled"
    if "tensor" in mods:
        return "how long copies of boxes of tensors take is not modelled"
    if name == "mbarrier" and mods[0] in ("arrive_drop", "complete_tx") or "noinc" in mods:
        return "arrivals for good, and those of asynchronous copies, are not modelled"
    return ""


def copied(run: Run) -> int:
    """Sectors for which memory has to be read on behalf of bulk copies: each once, of the buffers
    that they read.
    """
    asked = run.counts.others.get(Count.BULK_LOAD_SECTORS, 0)
    _, address, _ = runs_of(run.trace)
    read = {run.trace.launch.buffer_at(int(at)) for at in address[:: max(len(address) // 4096, 1)]}
    return min(asked, sum(buffer.size for buffer in read if buffer) // _SECTOR)
