"""Random kernels as machine code, against what an H200 left and counted.

    python -m tools.sass_trial FOLDER RECORDED

FOLDER has launches.json and the sources, RECORDED what the GPU did (json) and left (npz).

Kernels are written by the generator that wrote the recorded ones, and compiled as they were.
"""

import json
import sys
import time
from collections import Counter as Tally
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gpuviz.arch import architecture
from gpuviz.compile import compile_cuda
from gpuviz.memory.counting import Counter
from gpuviz.sass.listing import SassInstruction, disassemble, read_listings
from gpuviz.traces.observe import Access
from gpuviz.traces.trace import MemoryInstruction
from gpuviz.words.terminal import out
from tools.sass_trial.flow import Machine
from tools.sass_trial.machine import PARAMETERS, STACK, State, sections
from tools.sass_trial.memory import BASE
from tools.sass_trial.operands import UnknownError, Values

N = 4096


def arguments(number: int, threads: int) -> list[Any]:
    """What kernel `number` was given: the generator's `data`."""
    g = np.random.default_rng(number)
    a = g.integers(-(2**31), 2**31, N, dtype=np.int64).astype(np.int32)
    a[::3] = g.integers(-200, 200, len(a[::3]))
    f = (g.standard_normal(N) * 10.0 ** g.integers(-3, 4, N)).astype(np.float32)
    rest = (np.int32, np.float32, np.int64, np.int32)
    return [a, f, *(np.zeros(N, kind) for kind in rest), np.int32(threads), np.int32(3)]


class Listener:
    """Turns what the machine accesses into the events that gpuviz counts."""

    def __init__(self) -> None:
        self.counter = Counter(architecture("sm_90"))
        self.silent: Tally[str] = Tally()
        self._known: dict[int, MemoryInstruction] = {}

    def __call__(self, at: SassInstruction, space: str, address: Values, lanes: Values) -> None:
        """One instruction of all warps in step."""
        rows = lanes.any(1)
        if not rows.any():
            return
        one = self._known.get(at.address) or self._known.setdefault(at.address, described(at))
        where = np.broadcast_to(address, lanes.shape)[rows].astype(np.uint64)
        self.counter.access(Access(one, where, lanes[rows]))


_PTX_NAME = {"ADD": "add", "MAX": "max", "MIN": "min", "OR": "or", "AND": "and", "XOR": "xor"}


def described(at: SassInstruction) -> MemoryInstruction:
    """A machine instruction as gpuviz names accesses."""
    memory = at.memory
    assert memory is not None
    name, *mods = at.opcode.split(".")
    op: Any = "reduction" if name == "ATOMS" else memory.op
    kind, form = "b32", ""
    if op in ("reduction", "atomic"):
        kind = ("s" if "S32" in mods else "u") + ("64" if "64" in mods else "32")
        verb = next((_PTX_NAME[m] for m in mods if m in _PTX_NAME), "increment")
        form = f"{verb}.{kind}"
    space: Any = "global" if memory.space == "generic" else memory.space
    path = "nc" if "CONSTANT" in mods else ""
    return MemoryInstruction(
        at.address, at.line, at.ptx_line, at.opcode, op, space, memory.width, kind, path, "k", form
    )


def state(
    cubin: bytes, grid: list[int], block: list[int], args: list[Any], hear: Any
) -> tuple[State, list[Any], list[int]]:
    """The state before a launch, where its arrays lie in the arena, and the lanes of each warp."""
    found = sections(cubin)
    x, y, z = (*block, 1, 1)[:3]
    gx, gy, gz = (*grid, 1, 1)[:3]
    threads, blocks = x * y * z, gx * gy * gz
    per_block = -(-threads // 32)
    bank0 = np.zeros(PARAMETERS + 1024, np.uint8)
    words = bank0.view(np.uint32)
    words[:6], words[10] = (x, y, z, gx, gy, gz), STACK
    arena, places, at, next_parameter = np.zeros(1 << 19, np.uint8), [], 0, PARAMETERS
    for one in args:
        if one.ndim:
            raw = one.view(np.uint8)
            arena[at : at + len(raw)] = raw
            places.append(arena[at : at + len(raw)].view(one.dtype))
            value, at = np.uint64(BASE + at), at + -(-len(raw) // 512) * 512
        else:
            value = one
            places.append(None)
        size = value.itemsize
        next_parameter = -(-next_parameter // size) * size
        bank0[next_parameter : next_parameter + size] = np.array([value]).view(np.uint8)
        next_parameter += size
    banks = {0: bank0}
    for name, (_, data) in found.items():
        if name.startswith(".nv.constant") and not name.startswith(".nv.constant0"):
            banks[int(name[12])] = np.frombuffer(data, np.uint8)
    warp = np.arange(blocks * per_block)[:, None]
    thread = warp % per_block * 32 + np.arange(32)[None, :]
    number = warp // per_block
    special = {
        "SR_TID.X": thread % x,
        "SR_TID.Y": thread // x % y,
        "SR_TID.Z": thread // (x * y),
        "SR_CTAID.X": number % gx,
        "SR_CTAID.Y": number // gx % gy,
        "SR_CTAID.Z": number // (gx * gy),
        "SR_CgaCtaId": number * 0,
        "SR_LANEID": thread % 32,
    }
    shared = sum(size for name, (size, _) in found.items() if name.startswith(".nv.shared.k"))
    special = {name: value.astype(np.uint32) for name, value in special.items()}
    s = State(len(warp), per_block, banks, arena, special, -(-shared // 256) * 256 + 256, hear)
    lanes = [int(((row < threads) * (1 << np.arange(32))).sum()) for row in thread]
    return s, places, lanes


@dataclass
class Result:
    """What one kernel came to."""

    unknown: str = ""
    failed: str = ""
    wrong: list[int] = field(default_factory=list)
    counts: list[tuple[str, int, int]] = field(default_factory=list)
    seconds: float = 0.0
    instructions: int = 0


def tried(folder: Path, launch: dict[str, Any], counts: dict[str, float], arrays: Any) -> Result:
    """Run one kernel and compare."""
    name, result = launch["name"], Result()
    source = (folder / f"{name}.cu").read_text()
    program = compile_cuda(source, arch="sm_90", options=tuple(launch.get("options", ())))
    listing = read_listings(disassemble(program.cubin))["k"]
    grid, block = launch["grid"], launch["block"]
    args = arguments(int(name[1:]), int(np.prod(grid) * np.prod(block)))
    begun, listener = time.process_time(), Listener()
    try:
        machine = Machine(listing)
        s, places, lanes = state(program.cubin, grid, block, args, listener)
        machine.run(s, lanes)
    except UnknownError as error:
        return Result(unknown=str(error))
    except Exception as error:
        notes = getattr(error, "__notes__", [])
        return Result(failed=f"{error!r} {notes}")
    result.seconds, result.instructions = time.process_time() - begun, machine.instructions
    result.wrong = [
        i for i in (2, 3, 4, 5) if places[i].tobytes() != arrays[f"{name}_{i}"].tobytes()
    ]
    made = {str(key): value for key, value in listener.counter.result().totals.items()}
    made |= {
        "instructions": machine.instructions,
        "branch_targets": machine.targets,
        "branch_targets_uniform": machine.uniform,
    }
    made |= {f"shared_{op}_requests": n for op, n in machine.issued().items()}
    result.counts = [(k, made.get(k, 0), int(v)) for k, v in counts.items() if made.get(k, 0) != v]
    return result


def main() -> None:
    """Compare all kernels of a folder; a line for each that differs, then the sums."""
    folder, recorded = Path(sys.argv[1]), Path(sys.argv[2])
    only = set(sys.argv[3:])
    truth = json.loads((recorded / f"{folder.name}.json").read_text())["counts"]
    arrays = np.load(recorded / f"{folder.name}.npz")
    sums: Tally[str] = Tally()
    seconds = 0.0
    for launch in json.loads((folder / "launches.json").read_text()):
        name = launch["name"]
        if not truth.get(name) or (only and name not in only):
            continue
        result = tried(folder, launch, truth[name], arrays)
        sums["kernels"] += 1
        sums["known"] += not result.unknown
        memory = [c for c in result.counts if not c[0].startswith(("instr", "branch"))]
        ran = not result.unknown and not result.failed
        sums["outputs equal"] += ran and not result.wrong
        sums["memory counts equal"] += ran and not memory
        sums["instructions equal"] += ran and not any(c[0] == "instructions" for c in result.counts)
        sums["all 18 equal"] += ran and not result.counts
        sums["warp instructions"] += result.instructions
        seconds += result.seconds
        if not ran or result.wrong or result.counts:
            out(f"{name}: {result.unknown}{result.failed} {result.wrong or ''} {result.counts}")
    out(f"{dict(sums)}; {seconds:.1f} s")


if __name__ == "__main__":
    main()
