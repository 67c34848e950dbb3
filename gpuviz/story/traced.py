"""A lesson made of a trace that was saved: its requests, without running the kernel again."""

import hashlib
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np

from gpuviz.arch import Architecture, architecture
from gpuviz.base.errors import InputError
from gpuviz.files.allowed_paths import local
from gpuviz.launch.signature import short_name
from gpuviz.memory.counting import Counter, Counts
from gpuviz.run.run import Run
from gpuviz.story.kernel_launch import homely
from gpuviz.story.lesson import Lesson, Parameter, Story, Value, Values
from gpuviz.story.own_kernel import story as kernel
from gpuviz.traces import file as trace_file
from gpuviz.traces.observe import Access
from gpuviz.traces.trace import Trace, lane_mask
from gpuviz.words.language import tr

_STEP = 1 << 14  # requests counted at once, each of which takes kilobytes meanwhile
FILE = "trace"  # its place in a view's record


def lesson_of(path: Path) -> Lesson:
    """The trace in a file as a lesson: which of its blocks, which warp, the how-manieth request.

    Raises
    ------
    InputError : the file cannot be read, or no block was recorded
    FormatError : it is damaged, or no trace
    """
    trace = trace_file.load(path)
    if not trace.recorded:
        raise InputError(f"the trace {path} has no requests to show: no block was recorded")
    block = Parameter("block", tr("block shown"), trace.recorded[0], offers=trace.recorded)
    name = f"{short_name(trace.launch.kernel)} ({path.name})"
    return Lesson(
        _id(path),
        name,
        kernel.CHAPTER,
        tr("What a saved trace tells, request by request."),
        kernel.parameters_of(block, trace.launch.warps_per_block, runs=False),
        (),
        lambda values: (),
        partial(_narrate, trace),
        launch=record_of(path),
        former=kernel.FORMER,
        given=lambda arch: {kernel.ROLE: _run(trace, architecture(arch))},
    )


def record_of(path: Path) -> dict[str, Value]:
    """The file as a view's record names it; the home folder is written `~`."""
    return {FILE: homely(path)}


def path_of(record: Values) -> Path:
    """The file that `record_of` named; InputError when it is in the home of nobody here."""
    try:
        return Path(local(str(record[FILE]))).expanduser()
    except RuntimeError as error:  # no such user's home folder
        raise InputError(f"a trace that cannot be found: {record[FILE]}: {error}") from None


def _id(path: Path) -> str:
    """Another one when the file has changed."""
    told = f"{path.absolute()} {path.stat().st_mtime_ns}"
    return "trace-" + hashlib.sha256(told.encode(errors="surrogatepass")).hexdigest()[:12]


def _narrate(trace: Trace, values: Values, runs: Mapping[str, Run]) -> Story:
    return kernel.narrate({"block": trace.recorded[0], **values}, runs)


def _run(trace: Trace, arch: Architecture) -> Run:
    """The launch as far as it was recorded, counted for an architecture."""
    what = {"blocks": len(trace.recorded), "all": trace.launch.blocks}
    blocks = tr("{blocks} of {all} blocks: those that the trace holds", **what)
    return Run(trace, _counts(trace, arch), {}, arch.sm, "ptx", blocks)


def _counts(trace: Trace, arch: Architecture) -> Counts:
    counter = Counter(arch)
    for number, instruction in enumerate(trace.instructions):
        places = np.flatnonzero(trace.requests.instruction == np.int32(number))
        for start in range(0, len(places), _STEP):
            rows = trace.requests.select(places[start : start + _STEP])
            counter.access(Access(instruction, rows.address, lane_mask(rows.active)))
    return counter.result()
