"""`gpuviz count`: emulate a launch and print what its memory accesses cost."""

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from gpuviz.arch import Architecture, architecture
from gpuviz.assertions import report
from gpuviz.assertions.claim import Judgement
from gpuviz.base.errors import KernelFault
from gpuviz.cli import asserting, buffers
from gpuviz.cli.checking import checks_of, errors, of_fault, summary, told
from gpuviz.cli.launch import jobs, options_of
from gpuviz.cli.options import declare_launch
from gpuviz.compile import demangled
from gpuviz.files import writing as files
from gpuviz.launch import versions
from gpuviz.launch.job import Job
from gpuviz.memory.counting import CountRow
from gpuviz.memory.counts import Count, by_name
from gpuviz.memory.line_costs import AccessCost, LineCost, line_costs
from gpuviz.memory.operands import operands_of
from gpuviz.ptx.options import Options, OutOfTime
from gpuviz.results.table import text as table
from gpuviz.run import emulated, roomy
from gpuviz.run.fidelity import fidelity
from gpuviz.run.run import Level, Run
from gpuviz.run.tried import tried
from gpuviz.source.kernel_names import source_parameters
from gpuviz.traces.trace import Finding
from gpuviz.words.language import english
from gpuviz.words.terminal import err, out

_LINES_HEAD = (
    "lines by what their accesses cost (a wavefront counts as one cycle of a multiprocessor, a "
    "sector as half; caches are not modelled)"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    declare_launch(parser, "count", ncu={"type": Path})


def run(arguments: argparse.Namespace) -> int:
    """Count, print; 0, or 1 when a check found an error, or what was expected is not so."""
    arch = architecture(arguments.arch)
    if arguments.ncu:
        files.check_place(arguments.ncu)
    asserted = asserting.asks(arguments)
    checks, thorough = checks_of(arguments)
    thorough |= asserting.checks_needed(arguments)
    options = replace(
        options_of(arguments),
        record=(0,) if arguments.lines or asserted else (),  # which tells how lanes lie
        checks=checks,
        thorough=thorough,
    )
    whole = asserted or buffers.asks(arguments)
    if buffers.asks(arguments) and arguments.blocks == "auto":
        options = replace(options, blocks="all")
    entries, runs, findings, checked = [], list[Run](), list[Finding](), set(checks)
    unexpected, judged = False, dict[str, list[Judgement]]()
    for role, job in jobs(arguments).items():
        one, ended = counted(job, arch, arguments.level, options, whole)
        if arguments.file:
            versions.keep(Path(arguments.file))
        runs.append(one)
        findings += one.trace.findings
        checked &= set(one.checked)
        ranked = _ranked(one, job) if arguments.lines else None
        held = buffers.checked(one, arguments)
        unexpected |= buffers.wrong(held)
        if asserted:
            name, judged[name] = asserting.of_run(one, role, job, arch, arguments)
        if arguments.json:
            said: dict[str, Any] = {"guesses": dict(job.guesses), "buffers": buffers.as_json(held)}
            said |= {"ended_by_a_fault": True} if ended else {}
            said |= {"assertions": report.as_json(judged[name])} if asserted else {}
            entries.append(as_json(one, role, ranked) | said)
        else:
            out(as_text(one, role, ranked, tuple(job.guesses), arguments.instructions))
            out(f"{buffers.as_text(held)}\n" if held else "")
    if arguments.json:
        out(json.dumps(entries[0] if len(entries) == 1 else entries, indent=1))
    else:
        out(summary([name for name in checks if name in checked], findings))
    if arguments.ncu:
        from gpuviz.export.counts import raw_page  # pictures are nothing that counting needs

        files.write(arguments.ncu, raw_page(runs))
    for finding in findings:
        err(told(finding, arguments.file or ""))
    failed = asserting.told(judged, arguments) if asserted else 0
    return 1 if errors(findings) or unexpected or failed else 0


def counted(
    job: Job, arch: Architecture, level: Level, options: Options, whole: bool = True
) -> tuple[Run, bool]:
    """Run a launch, past a fault that the checks look for; whether there was one. Where its time
    is too short for all blocks, and not only the `whole` will do, a sample of them.
    """
    ended = False
    try:
        one = roomy_run(job, arch, level, options)
    except OutOfTime as late:
        if whole or options.blocks != "all":
            raise
        err(f"{late}; these are the counts of a sample")
        one = roomy_run(job, arch, level, replace(options, blocks="sample", thorough=False))
    except KernelFault as fault:
        if not of_fault(fault, options.checks):
            raise
        one, ended = emulated.past(fault, job, arch, level=level, options=options), True
    return tried(roomy.as_proposed(one, job), job, arch, options), ended


def roomy_run(job: Job, arch: Architecture, level: Level, options: Options) -> Run:
    """Run a launch; what was proposed and turned out too short is longer, and told."""
    ran, found = roomy.run(job, arch, level=level, options=options)
    if ran is not job:
        names = source_parameters(job.program.source, job.entry, len(job.arguments))
        err(f"as the kernel goes beyond what was proposed: {roomy.told(job, ran, names)}")
    return found


def _ranked(run: Run, job: Job) -> list[LineCost]:
    return line_costs(run.trace, run.counts, operands_of(job.program))


def as_json(run: Run, role: str = "", ranked: list[LineCost] | None = None) -> dict[str, Any]:
    """Everything counted, as plain values; with the lines ranked, if they are."""
    trace, launch = run.trace, run.trace.launch
    out: dict[str, Any] = {"role": role} if role else {}
    out |= {
        "kernel": launch.kernel,
        "size": run.size_words,
        "arch": run.arch,
        "level": run.level,
        "grid": list(launch.grid),
        "block": list(launch.block),
        "blocks_emulated": trace.blocks_emulated,
        "coverage": vars(run.coverage) if run.coverage else None,
        "bounds": run.bounds,
        "registers_per_thread": run.resources.registers if run.resources else None,
        "static_shared_bytes": run.resources.static_shared_bytes if run.resources else None,
        "thread_instructions": trace.thread_instructions,
        "warp_instructions": trace.warp_instructions,
        "totals": run.counts.totals,
        "of_no_lane": run.counts.silent,
        "instructions": [_row(row) for row in run.counts.rows],
        "branches": [vars(branch) for branch in trace.branches],
        "checks": list(run.checked),
        "findings": [vars(finding) for finding in trace.findings],
        "notes": list(run.notes),
        "fidelity": asdict(fidelity(run)),
        "printed": trace.printed,
        "engine": run.engine,
        "engine_note": run.engine_note,
    }
    return out if ranked is None else out | {"lines": _ranking(ranked)}


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


def as_text(
    run: Run,
    role: str = "",
    ranked: list[LineCost] | None = None,
    guesses: Sequence[str] = (),
    opened: bool = False,
) -> str:
    """Tables for people: launch, totals, and each memory instruction or the lines ranked; what of
    the launch nobody said; `opened`: each expression with its instructions.
    """
    launch = run.trace.launch
    shape = "{} x {}".format(*(",".join(map(str, s)) for s in (launch.grid, launch.block)))
    head = [
        f"{demangled(launch.kernel)}  {shape}  {run.arch}, {run.level} level, predicted (model)"
        + (f"  [{role}: {run.size_words}]" if role else "")
    ]
    if guesses:
        head.append(
            english("rests on {n} guess: ", "rests on {n} guesses: ", len(guesses))
            + ", ".join(guesses)
        )
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
    head += run.notes
    if (sure := fidelity(run)).kind == "exact but":
        head.append(sure.words)
    if run.coverage and run.coverage.how == "sample":
        head.append("--go-on counts all blocks, however long it takes")
    totals = [(key, *_total(run, key, n)) for key, n in run.counts.totals.items() if n]
    rows = [
        (
            str(r.instruction.line),
            r.instruction.text,
            str(r.instruction.width),
            _short(r.counts, run.about),
        )
        for r in run.counts.rows
    ]
    parts = [
        "\n".join(head),
        table(("total", "count", ""), totals, ">1"),
        table(("line", "instruction", "bytes", "counts"), rows, ">0 >2")
        if ranked is None
        else _ranked_text(ranked, run.about, opened),
    ]
    if run.trace.printed:
        parts.append("printed by the kernel:\n" + run.trace.printed.rstrip())
    return "\n\n".join(parts) + "\n"


def _total(run: Run, key: Count, value: int) -> tuple[str, str]:
    """A number, and what to know of it: of a sample what it would be if all blocks did the least,
    or the most; how many requests no lane took part in.
    """
    told = []
    if key in run.bounds:
        least, most = run.bounds[key]
        told.append(f"(sampled; blocks x their least and most: {least:,} to {most:,})")
    if silent := run.counts.silent.get(key, 0):
        told.append(f"({run.about}{silent:,} with every lane predicated off: nothing is moved)")
    return f"{run.about}{value:,}", " ".join(told)


def _short(counts: Any, about: str = "") -> str:
    """`requests 512 · sectors 4,096` without the instruction's own prefix, each once."""
    found: dict[str, int] = {}
    for key, value in counts.items():
        found.setdefault("_".join(key.split("_")[2:]), value)
    return "  ".join(f"{name} {about}{value:,}" for name, value in found.items())


def _ranking(costs: Sequence[LineCost]) -> list[dict[str, Any]]:
    """The ranking as plain values."""
    return [
        {
            "line": cost.line,
            "text": cost.text,
            "share": cost.share,
            "cycles": cost.cycles,
            "accesses": [_access(access) for access in cost.accesses],
        }
        for cost in costs
    ]


def _access(access: AccessCost) -> dict[str, Any]:
    at, operand = access.instruction, access.operand
    return {
        "operand": operand.text if operand else None,
        "column": operand.column if operand else None,
        "text": at.text,
        "op": at.op,
        "space": at.space,
        "width": at.width,
        "pc": at.pc,
        "ptx_line": at.ptx_line,
        "requests": access.requests,
        "unit": access.unit,
        "cost": access.cost,
        "ideal": access.ideal,
        "kind": access.reason.kind,
        "reason": access.reason.said,
        "lesson": access.reason.lesson or None,
        "instructions": [_access(one) for one in access.copies],
    } | by_name(access.counts)


def _ranked_text(costs: Sequence[LineCost], about: str = "", opened: bool = False) -> str:
    """A paragraph for each line, the most expensive first; `about` stands before its numbers."""
    if not costs:
        return "no line accesses memory"
    every = (_line_text(number, cost, about, opened) for number, cost in enumerate(costs, 1))
    return "\n\n".join([_LINES_HEAD, *every])


def _line_text(number: int, cost: LineCost, about: str, opened: bool) -> str:
    where = f"line {cost.line}" if cost.line else "a line that nobody knows"
    head = f"{number}. {where}, {about}{cost.share:.0%}" + (f": {cost.text}" if cost.text else "")
    said = [head]
    for access in cost.accesses:
        said.append(_access_text(access, about))
        said += [f"   {_numbers(one, about)}" for one in access.copies if opened]
    return "\n".join(said)


def _access_text(access: AccessCost, about: str) -> str:
    """Its numbers, and on a line of its own what is wrong, if anything is."""
    said, why = _numbers(access, about), access.reason
    if why.kind == "fine":
        return said
    return f"{said}\n      {why.said} (lesson {why.lesson})"


def _numbers(access: AccessCost, about: str) -> str:
    at, often = access.instruction, len(access.copies)
    times = f"({often} instructions)" if often else ""
    operand = access.operand.text if access.operand else ""
    name = " ".join(filter(None, (at.op, operand, at.text, times)))
    return (
        f"   {name}: {about}{access.requests:,} requests, {about}{access.cost:,} {access.unit}, "
        f"ideal {about}{access.ideal:,}"
    )
