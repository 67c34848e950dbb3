"""`gpuviz why`: where the time of a launch goes, as modelled; no GPU is needed."""

import argparse
import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from gpuviz.arch import architecture
from gpuviz.base.errors import InputError, KernelFault
from gpuviz.cli.launch import jobs
from gpuviz.cli.options import declare_launch
from gpuviz.cli.painter import painter_for
from gpuviz.compile import demangled
from gpuviz.draw.palette import THEMES
from gpuviz.export.formats import format_of
from gpuviz.export.save import save
from gpuviz.launch.job import Job
from gpuviz.panels.limit_bars import bars_of
from gpuviz.panels.limit_words import (
    advice_words,
    limit_sentence,
    model_note,
    size_note,
    time_words,
    what_if_words,
)
from gpuviz.panels.state_inks import NAMES
from gpuviz.ptx.options import Options
from gpuviz.results.table import text as table
from gpuviz.run import roomy
from gpuviz.run.predicted import explain
from gpuviz.timing.explanation import Explanation
from gpuviz.views.lesson_view import Subject
from gpuviz.views.make_view import timed
from gpuviz.views.time_view import time_view
from gpuviz.words.terminal import out, passed, passing

_LEAST = 0.005  # of a warp's time, to be told


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    theme = {"choices": tuple(THEMES), "default": "light"}
    since = {"type": float, "default": 0.0}
    declare_launch(parser, "why", out={"type": Path}, since=since, theme=theme)


def run(arguments: argparse.Namespace) -> int:
    """Explain, print, draw; 0."""
    chosen = _chosen(jobs(arguments), arguments.role)
    if arguments.out and len(chosen) > 1:
        roles = ", ".join(chosen)
        raise InputError(f"{arguments.out} is of one launch: choose it by --role, of: {roles}")
    arch = architecture(arguments.arch)
    options = Options(engine=arguments.engine, seconds=arguments.seconds)
    subjects = {}
    for role, job in chosen.items():
        if job.loose:  # of which nobody said how long its buffers are
            with suppress(KernelFault):  # of the kernel: it is told, and gone past
                job, _ = roomy.run(job, arch, level="ptx", options=options)
        found = explain(
            job,
            arch,
            cold=not arguments.warm,
            options=options,
            advise=True,
            progress=lambda share, name=role: passing(f"{name} {share:.0%}".strip()),  # type: ignore[misc]
        )
        found = found.since(arguments.since)
        subjects[role] = Subject(found, demangled(job.entry), job.program.source, arch.sm)
    passed()
    if arguments.json:
        plain = [as_json(one, role) for role, one in subjects.items()]
        out(json.dumps(plain[0] if len(plain) == 1 else plain, indent=1))
    else:
        out("\n\n".join(as_text(one, role) for role, one in subjects.items()))
    if arguments.out:
        _draw(next(iter(subjects.values())), arguments)
    return 0


def _chosen(found: dict[str, Job], role: str | None) -> dict[str, Job]:
    if role is None:
        return found
    if role not in found:
        raise InputError(f"there is no launch {role!r}; there are: {', '.join(found)}")
    return {role: found[role]}


def _draw(subject: Subject, arguments: argparse.Namespace) -> None:
    path: Path = arguments.out
    form = format_of(path)
    view = time_view(subject, "limits" if arguments.limits else "timeline", arguments.theme)
    with painter_for(form) as painter:
        save(timed(view, 0.0, view.story.duration) if form.stretch else view, path, None, painter)


def as_text(subject: Subject, role: str = "") -> str:
    """For people: the sentence, the bounds, the what-ifs, what warps wait for."""
    e = subject.explained
    notes = [
        note for note in (time_words(e), size_note(e), model_note(e.prediction.device)) if note
    ]
    name = subject.kernel + (f"  [{role}]" if role else "")
    rows = [
        (
            bar.resource,
            f"{bar.cycles:,.0f}",
            f"{bar.cycles / e.prediction.cycles:.0%}",
            str(bar.line or ""),
            "a warp waits" if bar.waits else "",
        )
        for bar in bars_of(e)
    ]
    waits = ", ".join(
        f"{NAMES[state]} {share:.0%}" for state, share in e.waits.items() if share >= _LEAST
    )
    return "\n\n".join(
        [
            "\n".join([name, limit_sentence(e, subject.source.splitlines()), *notes]),
            table(("resource", "cycles", "of all", "line", ""), rows, ">1 >2 >3"),
            *(["\n".join(("what to change", *_advice(e)))] if e.advice else []),
            *(["\n".join(what_if_words(e, one) for one in e.what_ifs)] if e.what_ifs else []),
            f"a resident warp's time: {waits}",
        ]
    )


def _advice(e: Explanation) -> Iterator[str]:
    for number, one in enumerate(e.advice, 1):
        yield f"{number}. {advice_words(e, one)} (lesson {one.lesson})"


def as_json(subject: Subject, role: str = "") -> dict[str, Any]:
    """Everything, as plain values."""
    e, made = subject.explained, subject.explained.prediction
    return {
        "role": role,
        "kernel": subject.kernel,
        "arch": subject.arch,
        "device": made.device.name,
        "modelled": model_note(made.device),
        "cycles": made.cycles,
        "microseconds": made.microseconds,
        "interval": e.interval,
        "l2_to_l1_sectors": made.l2_to_l1,
        "dram_read_sectors": made.dram_read,
        "fault": e.fault,
        "limiter": e.limits.limiter,
        "line": e.line,
        "bounds": [bar._asdict() for bar in bars_of(e)],
        "advice": [vars(one) for one in e.advice],
        "what_ifs": [vars(one) for one in e.what_ifs],
        "waits": {state.name.lower(): share for state, share in e.waits.items()},
        "blocks_simulated": len(e.timeline.blocks),
        "scale": made.scale,
    }
