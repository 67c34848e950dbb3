"""The memory spaces of a kernel: what lies where, who may use it, and what its requests cost."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby

from gpuviz.arch import Architecture
from gpuviz.language import tr
from gpuviz.memory.counts import costs_of, requests_of
from gpuviz.memory.request_counts import measure
from gpuviz.memory.transaction_names import counted, noun_of
from gpuviz.runners.base import Run
from gpuviz.trace import MemoryInstruction, Trace, lane_mask

SPACES = ("register", "shared", "constant", "texture", "global", "local")


@dataclass(frozen=True, eq=False)
class Space:
    """One memory space in one kernel.

    Attributes
    ----------
    name : what it is called
    chip, device : what of it is in the multiprocessor and what in device memory, "" nothing
    home : "chip" or "device": where its variables live
    facts : who sees it, how long it lasts, what threads and what the host may do
    requests : of the watched warp; `each` how many of `unit` one takes, "" when there are none
    first : the instruction of the first one, None when there is none
    stores, loads : whether there are such requests
    """

    name: str
    chip: str
    device: str
    home: str
    facts: tuple[str, str, str, str]
    requests: int
    each: str
    unit: str
    first: MemoryInstruction | None
    stores: bool = False
    loads: bool = False


def fact_names() -> tuple[str, ...]:
    """What the facts of a space are about."""
    return tr("seen by"), tr("lasts for"), tr("threads"), tr("host")


def spaces_of(run: Run, arch: Architecture, array: str) -> tuple[Space, ...]:
    """Every space with what warp 0 of block 0 asked of it; `array` is "register" or "local"."""
    read, both, none = tr("read"), tr("read, write"), "–"
    one, block, every = tr("one thread"), tr("its block"), tr("all threads")
    cache = tr("L1 cache") if arch.caches_global else ""
    texture = tr("L1 cache") if arch.has_sectors else tr("texture")
    kept = "kept"
    in_registers = "i, sum" + (f", {kept}" if array == "register" else "")
    rows: dict[str, tuple[str, str, str, str, tuple[str, str, str, str]]] = {
        "register": (
            tr("registers"),
            in_registers,
            "",
            "chip",
            (one, tr("the thread"), both, none),
        ),
        "shared": (tr("shared"), "row", "", "chip", (block, tr("the block"), both, none)),
        "constant": (
            tr("constant"),
            tr("cache"),
            "scale",
            "device",
            (every, tr("the program"), read, tr("write")),
        ),
        "texture": (
            tr("read-only"),
            texture,
            "table",
            "device",
            (every, tr("until freed"), read, both),
        ),
        "global": (
            tr("global"),
            cache,
            "in, out",
            "device",
            (every, tr("until freed"), both, both),
        ),
        "local": (
            tr("local"),
            cache,
            kept if array == "local" else "",
            "device",
            (one, tr("the thread"), both, none),
        ),
    }
    asked = _asked(run.trace, arch)
    nothing = _Asked(0, "–", "", None)
    found = []
    for key in SPACES:
        name, chip, device, home, facts = rows[key]
        one_space = asked.get(key, nothing)
        each, unit = one_space.each, one_space.unit
        if key == "register":
            each, unit = _registers(run), tr("a thread")
        found.append(
            Space(
                name,
                chip,
                device,
                home,
                facts,
                one_space.requests,
                each,
                unit,
                one_space.first,
                one_space.stores,
                one_space.loads,
            )
        )
    return tuple(found)


def _registers(run: Run) -> str:
    """What the compiler's log says."""
    if run.resources is None:
        return tr("not known")
    return str(run.resources.registers)


@dataclass(frozen=True, eq=False)
class _Asked:
    requests: int
    each: str
    unit: str
    first: MemoryInstruction | None
    stores: bool = False
    loads: bool = False


def space_of(instruction: MemoryInstruction) -> str:
    """The column an instruction belongs to; the read-only path has its own."""
    return "texture" if instruction.path == "nc" else instruction.space


def _asked(trace: Trace, arch: Architecture) -> Mapping[str, _Asked]:
    """Requests of warp 0 of block 0 by space, and what they take on average."""
    rows = trace.of(block=0, warp=0)
    found: dict[str, list[tuple[int, int, int]]] = {}
    for row in range(len(rows)):
        did = trace.instructions[rows.instruction[row]]
        counts = measure(arch, did, rows.address[row][None], lane_mask(rows.active[row : row + 1]))
        asked, cost = int(counts[requests_of(did)][0]), int(counts[costs_of(did)][0])
        found.setdefault(space_of(did), []).append((row, asked, cost // asked))
    return {
        key: _one(
            arch,
            [trace.instructions[rows.instruction[r]] for r, _, _ in parts],
            sum(asked for _, asked, _ in parts),
            [each for _, _, each in parts],
        )
        for key, parts in found.items()
    }


def _one(
    arch: Architecture, did: list[MemoryInstruction], requests: int, count: list[int]
) -> _Asked:
    """The requests to one space; a range where they do not all take the same.

    A wide access to local memory is one request for each of its words.
    """
    low, high = min(count), max(count)
    unit = counted(noun_of(arch, did[0].space), high).removeprefix(str(high)).strip()
    each = str(low) if low == high else f"{low}–{high}"
    return _Asked(
        requests,
        each,
        unit,
        did[0],
        any(i.op == "store" for i in did),
        any(i.op != "store" for i in did),
    )


def order_of(trace: Trace) -> tuple[str, ...]:
    """The spaces in the order in which warp 0 of block 0 first uses them, registers first."""
    rows = trace.of(block=0, warp=0)
    used = (space_of(trace.instructions[i]) for i in rows.instruction.tolist())
    return ("register", *dict.fromkeys(used))


@dataclass(frozen=True, eq=False)
class Placement:
    """Where the compiler put the automatic array of one kernel.

    `stack`, `registers` are the assembler's, -1 when not known; `requests` and `sectors` those of
    the launch's local memory by the PTX; `source` and `line` read it; `ptx` are the lines of the
    PTX that name local memory, or that belong to that line, alike ones as one.
    """

    stack: int
    registers: int
    requests: int
    sectors: int
    source: str
    line: int
    ptx: tuple[str, ...]


def placement_of(run: Run, arch: Architecture) -> Placement:
    """What log, PTX and trace of a run say about its array."""
    found, kernel = run.resources, run.trace.launch.kernel
    line, text = _reading(run.trace.source, kernel)
    warps = run.trace.launch.blocks * run.trace.launch.warps_per_block
    rows = run.trace.of(space="local", block=0, warp=0)
    requests = sectors = 0
    for row in range(len(rows)):
        did = run.trace.instructions[rows.instruction[row]]
        active = lane_mask(rows.active[row : row + 1])
        counts = measure(arch, did, rows.address[row][None], active)
        requests += int(counts[requests_of(did)][0])
        sectors += int(counts[costs_of(did)][0])
    return Placement(
        found.stack_bytes if found else -1,
        found.registers if found else -1,
        requests * warps,
        sectors * warps,
        text,
        line,
        _ptx_lines(run.trace.ptx, kernel, line),
    )


def _ptx_lines(ptx: str, kernel: str, line: int) -> tuple[str, ...]:
    """Lines of a kernel's PTX that name local memory, or else those of one CUDA line."""
    entry = re.search(rf"\.entry\s+{re.escape(kernel)}\b.*?^\}}", ptx, re.DOTALL | re.MULTILINE)
    lines = [" ".join(text.split()) for text in (entry[0] if entry else ptx).splitlines()]
    found = [text for text in lines if re.search(r"\.local\b", text) and "cvta" not in text]
    groups = [
        list(group)
        for _, group in groupby(found or _of_line(lines, line), lambda text: text.split()[0])
    ]
    return tuple(f"{len(g)} × {g[0]}" if len(g) > 1 else g[0] for g in groups)


def _of_line(lines: list[str], line: int) -> list[str]:
    """The instructions that `.loc` assigns to a CUDA line."""
    found, inside = [], False
    for text in lines:
        if text.startswith(".loc"):
            inside = text.split()[2] == str(line)
        elif inside and text:
            found.append(text)
    return found


def _reading(source: str, kernel: str) -> tuple[int, str]:
    """Number and text of the line that reads the array in a kernel."""
    lines = source.splitlines()
    start = next((i for i, text in enumerate(lines) if f" {kernel}(" in text), 0)
    found = ((i + 1, lines[i]) for i in range(start, len(lines)) if "+= kept[" in lines[i])
    number, text = next(found, (0, ""))
    return number, text.split("//")[0].strip()
