"""`gpuviz run`: launch a kernel on the GPU, and put what it measured beside the prediction."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass, replace
from typing import Any

from gpuviz.arch import Architecture, architecture
from gpuviz.base.errors import KernelFault, UnavailableError, UnsupportedError
from gpuviz.cli import checking
from gpuviz.cli.launch import jobs
from gpuviz.cli.options import declare_launch
from gpuviz.compile import demangled
from gpuviz.gpu import live
from gpuviz.gpu.client import Gpu
from gpuviz.gpu.live import MeasureOptions
from gpuviz.launch.job import Job
from gpuviz.panels.limit_words import limit_sentence, time_words
from gpuviz.ptx.options import Options
from gpuviz.recordings.measurement import Measurement, Peaks
from gpuviz.recordings.stall_reasons import KEYS, PREFIX, waits
from gpuviz.results import rows
from gpuviz.results.table import text as table
from gpuviz.run import emulated
from gpuviz.run.predicted import explain
from gpuviz.run.run import Run
from gpuviz.run.throughput import throughput, work_of
from gpuviz.run.verification import Comparison, compare_run
from gpuviz.timing.device import device_of
from gpuviz.traces.trace import Finding
from gpuviz.words.language import english
from gpuviz.words.terminal import err, out


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    cache = {"choices": ("warm", "flushed", "rotated"), "default": "warm"}
    declare_launch(parser, "run", cache=cache)


def run(arguments: argparse.Namespace) -> int:
    """Run, print; 0, or 1 when a check found an error."""
    with Gpu(arguments.device) as gpu:
        arguments.arch = gpu.facts().sm
        arch = architecture(gpu.facts().capability)
        peaks = gpu.peaks()
        options = MeasureOptions(
            arguments.repeat, arguments.cache, not arguments.no_counters, arguments.places, peaks
        )
        checks, thorough = checking.checks_of(arguments)
        emulation = Options(
            record=(),
            engine=arguments.engine,
            seconds=arguments.seconds,
            checks=checks,
            thorough=thorough,
        )
        told = [
            _one(gpu, role, job, arch, options, emulation) for role, job in jobs(arguments).items()
        ]
        printed = gpu.printed
    if arguments.json:
        out(
            json.dumps(
                told[0].as_json() if len(told) == 1 else [t.as_json() for t in told], indent=1
            )
        )
    else:
        out("\n\n".join(t.as_text() for t in told))
    if printed:
        err(printed)
    findings = [finding for one in told for finding in one.findings]
    for finding in findings:
        err(checking.told(finding, arguments.file or ""))
    return 1 if checking.errors(findings) else 0


def _one(
    gpu: Gpu, role: str, job: Job, arch: Architecture, options: MeasureOptions, emulation: Options
) -> Report:
    ended: tuple[Finding, ...] = ()
    try:
        predicted, why = emulated.run(job, arch, options=emulation), ""
    except (UnsupportedError, KernelFault) as error:
        predicted, why = None, f"nothing predicted: {error}"
        if isinstance(error, KernelFault):
            ended = checking.of_fault(error, emulation.checks)
    measurement = live.measure(
        gpu, job, options, expected=predicted.outputs if predicted and predicted.whole else None
    )
    if predicted is not None:
        try:
            predicted = _explained(predicted, job, arch, options, emulation)
        except UnavailableError as error:
            why = str(error)
    return Report(role, job, predicted, measurement, why, ended)


def _explained(
    run: Run, job: Job, arch: Architecture, measured: MeasureOptions, emulation: Options
) -> Run:
    """With the time that is modelled: of data in L2 only where launches leave all of it there."""
    size = sum(buffer.size for buffer in run.trace.launch.buffers)
    cold = measured.mode != "warm" or size > device_of(arch).warm_bytes
    options = Options(engine=emulation.engine, seconds=emulation.seconds)
    return replace(run, explained=explain(job, arch, cold=cold, options=options))


@dataclass(frozen=True, eq=False)
class Report:
    """One launch: predicted and measured; `why` it is not predicted, what ended it."""

    role: str
    job: Job
    run: Run | None
    measurement: Measurement
    why: str
    ended: tuple[Finding, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What checks found."""
        return self.run.trace.findings if self.run else self.ended

    @property
    def notes(self) -> list[str]:
        """What to know of it."""
        own = (self.run.level_note, self.run.note) if self.run else ()
        return list(filter(None, (self.why, *own, *self.measurement.notes)))

    def comparisons(self) -> list[Comparison]:
        """Counters that are predicted too."""
        return compare_run(self.role, self.run, self.measurement.values()) if self.run else []

    def as_json(self) -> dict[str, Any]:
        """Everything, as plain values."""
        m = self.measurement
        return {
            "role": self.role,
            "size": self.job.size_words,
            "kernel": demangled(self.job.entry),
            "grid": list(self.job.grid),
            "block": list(self.job.block),
            "device": asdict(m.device),
            "date": m.date,
            "timing": self._timing() if m.timing else None,
            "waits": waits(m.values()),
            "counters": {k: asdict(r) | {"status": r.status} for k, r in m.counters.items()},
            "predicted": self.run.counts.totals if self.run else None,
            "modelled": self._modelled(),
            "differences": m.differences,
            "checks": list(self.run.checked) if self.run else [],
            "findings": [vars(finding) for finding in self.findings],
            "notes": self.notes,
            "telemetry": asdict(m.telemetry) if m.telemetry else None,
            "peaks": asdict(m.peaks) if m.peaks else None,
            "placement": {
                name: getattr(m.placement, name).tolist()
                for name in ("block", "sm", "start_ns", "end_ns")
            }
            if m.placement
            else None,
        }

    def _modelled(self) -> dict[str, Any] | None:
        if self.run is None or (e := self.run.explained) is None:
            return None
        return {**rows.modelled(self.run), "limiter": e.limits.limiter, "line": e.line}

    def _timing(self) -> dict[str, Any]:
        timing = self.measurement.timing
        assert timing is not None
        told = {
            "mode": timing.mode,
            "launches": len(timing.microseconds),
            "median_us": timing.median,
            "minimum_us": timing.minimum,
            "spread_us": timing.spread,
            "clocks_mhz": list(timing.clocks),
        }
        if self.run is None:
            return told
        rates = throughput(work_of(self.run), timing.median)
        return told | {
            "bytes_per_second": rates.asked,
            "sector_bytes_per_second": rates.moved,
            "flops_per_second": rates.flops,
        }

    def as_text(self) -> str:
        """For people."""
        shape = "{} x {}".format(*(",".join(map(str, s)) for s in (self.job.grid, self.job.block)))
        name = f"{demangled(self.job.entry)}  {shape}" + (
            f"  [{self.role}: {self.job.size_words}]" if self.role else ""
        )
        parts = [
            "\n".join(
                [
                    *(name, self.measurement.caption),
                    *(*self._speed(), *self._limit(), *self._result(), *self.notes),
                ]
            )
        ]
        if self.measurement.values():
            parts.append(self._counts())
        return "\n\n".join(parts)

    def _speed(self) -> list[str]:
        told, peaks = self._timing(), self.measurement.peaks
        launches = english("{n} launch", "{n} launches", told["launches"])
        lines = [
            f"{launches} ({told['mode']}): median {told['median_us']:.2f} "
            f"us, shortest {told['minimum_us']:.2f}, middle half within "
            f"{told['spread_us']:.2f}"
        ]
        lines += [self.measurement.overhead] if self.measurement.overhead else []
        if self.run is None or peaks is None:
            return lines
        return lines + _rates(told, peaks)

    def _limit(self) -> list[str]:
        """The time modelled, beside the one measured, and what limits."""
        e = self.run.explained if self.run else None
        if e is None:
            return []
        apart = self._timing()["median_us"] / e.prediction.microseconds - 1
        return [
            f"modelled: {time_words(e)}; measured {apart:+.0%}",
            limit_sentence(e, self.job.program.source.splitlines()),
        ]

    def _result(self) -> list[str]:
        return [
            f"largest difference to the emulator's {name}: {value:g}"
            for name, value in self.measurement.differences.items()
        ]

    def _counts(self) -> str:
        values, made = rows.measured(self.measurement), rows.modelled(self.run) if self.run else {}
        compared = {c.quantity: c for c in self.comparisons()}
        counted = [(key, c.predicted, c.measured, c.note) for key, c in compared.items()]
        timed = [(key, n, values[key], "modelled") for key, n in made.items() if key in values]
        cells = [_compared(*row) for row in (*counted, *timed) if row[1] or row[2]]
        known = compared.keys() | made.keys()
        cells += [
            (key, "", _number(key, value), "", "")
            for key, value in values.items()
            if key not in known and value
        ]
        return table(("counter", "predicted", "measured", "difference", ""), cells, ">1 >2 >3")


def _compared(key: str, predicted: float, measured: float, note: str) -> tuple[str, ...]:
    apart = measured - predicted
    difference = _number(key, apart, "+") if apart else "0"
    return key, _number(key, predicted), _number(key, measured), difference, note


def _number(key: str, value: float, sign: str = "") -> str:
    """Cycles for each instruction with two digits, all else whole."""
    digits = 2 if key in KEYS or key.startswith(PREFIX) else 0
    return f"{value:{sign},.{digits}f}"


def _rates(told: dict[str, Any], peaks: Peaks) -> list[str]:
    """Rates in giga a second, and of what a copy and a loop of multiply-adds reach here."""
    asked, flops = told["bytes_per_second"], told["flops_per_second"]
    return [
        f"{asked / 1e9:,.1f} GB/s asked for, {told['sector_bytes_per_second'] / 1e9:,.1f} GB/s "
        f"in sectors ({asked / peaks.bytes_per_second:.1%} of a copy's "
        f"{peaks.bytes_per_second / 1e9:,.0f}); {flops / 1e9:,.1f} GFLOP/s "
        f"({flops / peaks.flops_per_second:.1%} of {peaks.flops_per_second / 1e9:,.0f})"
    ]
