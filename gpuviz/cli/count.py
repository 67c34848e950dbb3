"""`gpuviz count`: emulate a launch and print what its memory accesses cost."""

from __future__ import annotations

import argparse
import json
from typing import Any

from gpuviz.arch import architecture
from gpuviz.cli.checking import add_check, checks_of, errors, of_fault, summary, told
from gpuviz.cli.launch import add_engine, add_launch, at_least_one, jobs
from gpuviz.cli.table import table
from gpuviz.compile import demangled
from gpuviz.errors import KernelFault
from gpuviz.language import english
from gpuviz.memory.counting import CountRow
from gpuviz.memory.counts import by_name
from gpuviz.ptx.options import BUDGET, Options
from gpuviz.runners import emulated
from gpuviz.runners.base import Run
from gpuviz.terminal import err, out
from gpuviz.trace import Finding

EXAMPLE = """examples:
  gpuviz count copy.cu --entry copy --grid 64 --block 256 \\
         --arg f32[16384]=rand --arg f32[16384]=zeros --arg i32=1
  gpuviz count --scene coalescing --set stride=8 --arch sm_80 --json
  gpuviz count stencil.cu --grid 4 --block 64 --arg f32[256]=arange --arg i32=256 --check race,init

LAUNCH is FILE --entry NAME --grid X[,Y[,Z]] --block X[,Y[,Z]] [--dynamic-shared BYTES]
          [--define K=V]... [--arg SPEC]...   or   --scene ID [--set K=V]...

Exit status: 0 done, 1 a check found an error, 2 the launch cannot be counted, 3 something lacks."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_launch(parser)
    parser.add_argument(
        "--level",
        choices=("sass", "ptx"),
        default="sass",
        help="count what the assembler made of the code, or the PTX as written",
    )
    parser.add_argument(
        "--blocks",
        type=_blocks,
        default=None,
        metavar="all|N",
        help="emulate all blocks (default), or N spread over the grid",
    )
    parser.add_argument(
        "--budget",
        type=at_least_one,
        default=None,
        metavar="N",
        help=f"stop after this many thread instructions (default {BUDGET:,} with NumPy; the "
        f"compiled engine stops after {Options.seconds:.0f} seconds)",
    )
    add_engine(parser)
    add_check(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def _blocks(text: str) -> int | None:
    return None if text == "all" else at_least_one(text)


def run(arguments: argparse.Namespace) -> int:
    """Count, print; 0, or 1 when a check found an error."""
    arch = architecture(arguments.arch)
    checks, thorough = checks_of(arguments)
    options = Options(
        record=(),
        max_blocks=arguments.blocks,
        budget=arguments.budget,
        engine=arguments.engine,
        checks=checks,
        thorough=thorough,
    )
    entries, findings, checked = [], list[Finding](), set(checks)
    for role, job in jobs(arguments).items():
        try:
            one = emulated.run(job, arch, level=arguments.level, options=options)
        except KernelFault as fault:
            ended = of_fault(fault, checks)
            if ended is None:
                raise
            findings.append(ended)
            entries.append(_ended(job.entry, ended, role) | {"checks": list(checks)})
        else:
            findings += one.trace.findings
            checked &= set(one.checked)
            entries.append(as_json(one, role) if arguments.json else {})
            if not arguments.json:
                out(as_text(one, role))
    if arguments.json:
        out(json.dumps(entries[0] if len(entries) == 1 else entries, indent=1))
    else:
        out(summary([name for name in checks if name in checked], findings))
    for finding in findings:
        err(told(finding))
    return 1 if errors(findings) else 0


def _ended(kernel: str, finding: Finding, role: str) -> dict[str, Any]:
    """What there is to say of a launch that a fault ended."""
    entry: dict[str, Any] = {"role": role} if role else {}
    return entry | {"kernel": kernel, "findings": [vars(finding)], "ended_by_a_fault": True}


def as_json(run: Run, role: str = "") -> dict[str, Any]:
    """Everything counted, as plain values."""
    trace, launch = run.trace, run.trace.launch
    out: dict[str, Any] = {"role": role} if role else {}
    out |= {
        "kernel": launch.kernel,
        "size": run.told_size,
        "arch": run.arch,
        "level": run.level,
        "grid": list(launch.grid),
        "block": list(launch.block),
        "blocks_emulated": trace.blocks_emulated,
        "registers_per_thread": run.resources.registers if run.resources else None,
        "static_shared_bytes": run.resources.static_shared_bytes if run.resources else None,
        "thread_instructions": trace.thread_instructions,
        "warp_instructions": trace.warp_instructions,
        "totals": run.counts.totals,
        "instructions": [_row(row) for row in run.counts.rows],
        "branches": [vars(branch) for branch in trace.branches],
        "checks": list(run.checked),
        "findings": [vars(finding) for finding in trace.findings],
        "notes": [note for note in (run.level_note, *trace.notes) if note],
        "printed": trace.printed,
        "engine": run.engine,
        "engine_note": run.engine_note,
    }
    return out


def _row(row: CountRow) -> dict[str, Any]:
    at = row.instruction
    return {
        "pc": at.pc,
        "line": at.line,
        "ptx_line": at.ptx_line,
        "op": at.op,
        "space": at.space,
        "width": at.width,
        "text": at.text,
        "function": at.function,
    } | by_name(row.counts)


def as_text(run: Run, role: str = "") -> str:
    """Tables for people: the launch, its totals, and each memory instruction."""
    launch = run.trace.launch
    shape = "{} x {}".format(*(",".join(map(str, s)) for s in (launch.grid, launch.block)))
    head = [
        f"{demangled(launch.kernel)}  {shape}  {run.arch}, {run.level} level, predicted (model)"
        + (f"  [{role}: {run.told_size}]" if role else "")
    ]
    if run.resources:
        registers, shared = run.resources.registers, run.resources.static_shared_bytes
        head.append(
            english("{n} register a thread, ", "{n} registers a thread, ", registers)
            + english("{n} byte", "{n} bytes", shared)
            + " of static shared memory a block"
        )
    if run.engine == "compiled":
        head.append("executed by the compiled engine")
    elif "compiled engine" in run.engine_note:  # asked for, or chosen, and did not
        head.append(run.engine_note)
    head += [note for note in (run.level_note, *run.trace.notes) if note]
    totals = [(key, f"{value:,}") for key, value in run.counts.totals.items() if value]
    rows = [
        (str(r.instruction.line), r.instruction.text, str(r.instruction.width), _short(r.counts))
        for r in run.counts.rows
    ]
    parts = [
        "\n".join(head),
        table(("total", "count"), totals, ">1"),
        table(("line", "instruction", "bytes", "counts"), rows, ">0 >2"),
    ]
    if run.trace.printed:
        parts.append("printed by the kernel:\n" + run.trace.printed.rstrip())
    return "\n\n".join(parts) + "\n"


def _short(counts: Any) -> str:
    """`requests 512 · sectors 4,096` without the instruction's own prefix, each once."""
    found: dict[str, int] = {}
    for key, value in counts.items():
        found.setdefault("_".join(key.split("_")[2:]), value)
    return "  ".join(f"{name} {value:,}" for name, value in found.items())
