"""Run one launch of a PTX module, whole or batch by batch, on this machine's processor."""

import re
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from gpuviz.arguments import ByValue
from gpuviz.base.arrays import Array
from gpuviz.base.errors import KernelFault
from gpuviz.ptx.checks.sinks import sinks as checking
from gpuviz.ptx.compiled.writer import Bailout
from gpuviz.ptx.equivalence.shift import NoProof
from gpuviz.ptx.equivalence.some_blocks import Totals, from_sample
from gpuviz.ptx.equivalence.some_blocks import observe as from_classes
from gpuviz.ptx.flops import floating_operations
from gpuviz.ptx.interpreter import interpret, transfers, without_effect
from gpuviz.ptx.options import RECORD_LIMIT, Options, OutOfTime
from gpuviz.ptx.prepare import PreparedLaunch, prepare
from gpuviz.ptx.recorders import Tracer
from gpuviz.ptx.simt.program import reachable
from gpuviz.ptx.text.flow import spans, visiting_order
from gpuviz.ptx.text.ir import Function, Module
from gpuviz.traces.geometry import Triple
from gpuviz.traces.observe import Sink, Sums
from gpuviz.traces.trace import Coverage, Finding, Trace

LEAST_WORK = 60_000_000  # thread instructions NumPy executes while LLVM is loaded and begins,
WORK_FOR_EACH = 1_000_000  # and while it makes the code of one instruction
_NUMPY_RATE, _COMPILED_RATE = 1e8, 2e9  # thread instructions a second, roughly, of one core
_WHILE_COMPILING = 2.5e8  # thread instructions that the two above are of, a second
_LOST = 3.0  # seconds: a launch that takes longer is compiled, as soon as that is plain
_USUAL_TURNS, _MOST_TURNS = 16, 65_536
_LONGEST = 20_000  # instructions of a kernel: LLVM takes up to half a millisecond for each
_LEAST = 0.2  # of the time, for a sample
# Just below the most that glibc lets its limits grow to (DEFAULT_MMAP_THRESHOLD_MAX, 32 MiB).
_LARGE = 31 << 20

__all__ = ["RECORD_LIMIT", "Options", "Result", "emulate"]


@dataclass(frozen=True, eq=False)
class Result:
    """The trace of a launch, and its buffers afterwards (by name, as the arrays passed in).

    `inputs` are the buffers as they were given; nothing of them is copied.

    `executed` tells how often warps executed each basic block, by the pc of its first instruction.
    `engine` is who executed the launch, "compiled" or "numpy"; `engine_note` why not the other.
    `checked` is what was looked for. `coverage` says which blocks were executed, and
    `samples` what each of a sample did.
    """

    trace: Trace
    outputs: Mapping[str, Array]
    executed: Mapping[int, int] = field(default_factory=dict)
    engine: str = "numpy"
    engine_note: str = ""
    checked: tuple[str, ...] = ()
    coverage: Coverage = Coverage("all", 0, 0)
    samples: tuple[Totals, ...] = ()
    inputs: Mapping[str, Array] = field(default_factory=dict)


def emulate(
    module: Module,
    kernel: str,
    grid: Triple,
    block: Triple,
    arguments: Sequence[Array | ByValue],
    *,
    dynamic_shared: int = 0,
    sinks: Sequence[Sink] = (),
    options: Options | None = None,
    names: Sequence[str] = (),
    arch: str = "",
    source: str = "",
    unset: Collection[int] = (),
    variables: Mapping[str, ByValue] | None = None,
) -> Result:
    """Execute a launch.

    Parameters
    ----------
    arguments : one per kernel parameter, in order: an array of one dimension or more is a buffer,
        a zero-dimensional one (NumPy scalar) is passed by value, and so is a `ByValue`
    sinks : who else wants to know what happens, see `gpuviz.traces.observe`
    names : names of the buffers, in the order of the arguments ("arg0", ... by default)
    unset : which arguments are buffers that nobody gave content before the launch
    variables : what variables of the module hold when it begins, by name, in place of the text's

    Raises
    ------
    LaunchError : the arguments do not fit the parameters, or there is no such kernel
    UnsupportedError, KernelFault, Cancelled : see `simt.machine` and `decode.decoder`
    """
    _keep_freed_memory()
    wanted = arguments, dynamic_shared, names, unset, variables
    emulation = _Emulation(
        partial(prepare, module, kernel, grid, block, *wanted), sinks, options or Options()
    )
    emulation.run()
    return emulation.result(source, arch)


class _Emulation:
    """A launch on its way: which of its blocks are executed, and by whom."""

    def __init__(
        self, make: Callable[[], PreparedLaunch], sinks: Sequence[Sink], options: Options
    ) -> None:
        self._make, self._sinks, self._options = make, sinks, options
        self._began = time.monotonic()
        self.launched = make()
        self.tracer = self._traced()
        self.printed, self.note = "", ""
        self.ended: Finding | None = None
        self.checked: tuple[str, ...] = ()
        self.samples: tuple[Totals, ...] = ()
        blocks = self.launched.launch.blocks
        self.coverage = Coverage("all", blocks, blocks)

    def _traced(self) -> Tracer:
        options = self._options
        return Tracer(options.record, options.record_limit, options.path)

    def run(self) -> None:
        """Execute what is wanted, or what there is time for."""
        options, how = self._options, self._options.blocks
        asked = bool(options.checks) and options.thorough
        others = [sink for sink in self._sinks if not isinstance(sink, Sums)]
        if others and how in ("classes", "sample"):
            why = f"{type(others[0]).__name__} wants to hear every event"
            self.coverage = replace(self.coverage, why=why)
        clusters = self.launched.program.cluster.size > 1
        if options.max_blocks is not None or asked or others or clusters:
            how = "all"
        if how == "sample":
            return self._sample(options.seconds)
        large = estimated_seconds(self.launched) > options.seconds
        tried = how == "classes" or (how == "auto" and large)
        if tried and self._classes():
            return None
        if not asked and self._tried():
            return None
        try:
            seconds = options.seconds if how == "all" else self._left()
            return self._all(seconds, patient=how == "all")
        except OutOfTime as fault:
            if how == "all":
                raise
            self._begin_again(f"all blocks would take longer than {options.seconds:g} s")
            if not tried and self._classes():
                return None
            self._sample(max(self._left(), options.seconds * _LEAST), fault)

    def result(self, source: str, arch: str) -> Result:
        """What has come of it."""
        launched, tally = self.launched, self.tracer.tally
        module = launched.program.module
        trace = self.tracer.trace(
            launched.launch,
            ended=self.ended is not None,
            printed=self.printed,
            source=source,
            ptx=module.text,
            arch=arch,
            flops=floating_operations(module, tally.threads),
        )
        notes = *trace.notes, *without_effect(launched.program), self.coverage.note
        return Result(
            replace(trace, notes=tuple(filter(None, notes))),
            launched.outputs(),
            tally.executed,
            "numpy" if self.note else "compiled",
            self.note,
            self.checked,
            self.coverage,
            self.samples,
            launched.inputs(),
        )

    def _left(self) -> float:
        """Seconds that are left."""
        return max(0.01, self._options.seconds - (time.monotonic() - self._began))

    def _begin_again(self, why: str) -> None:
        """Nothing has been heard, and memory is as it was."""
        before = self.coverage.why
        self.coverage = replace(self.coverage, why="; ".join(filter(None, (why, before))))
        for sink in self._sinks:
            if isinstance(sink, Sums):
                sink.start_over()
        del self.launched
        self.launched = self._make()

    def _tried(self) -> bool:
        """What is taken for few instructions, and may be many in loops within loops: all blocks by
        the NumPy engine, as long as machine code takes to be made, then by the compiled one;
        whether one of them was done.
        """
        if self._options.engine != "auto" or worth_compiling(self.launched):
            return False
        try:
            worth = _LOST * (2 if self._options.checks else 1)  # which only this engine does
            left = self._left()
            seconds = min(worth + 2 * _seconds_to_compile(self.launched), left)
            self._all(seconds, patient=False, clock=_own_time(seconds / left))
            return True
        except OutOfTime:
            self._begin_again("")
        options = replace(
            self._options, engine="compiled", seconds=self._left(), patient=False, checks=()
        )
        program = self.launched.program
        self.tracer, self.checked = self._traced(), ()
        checks = checking((), _lockstep(program.module), program)
        try:
            self.note = _compiled(
                self.launched, (*self._sinks, *checks, *self.tracer.sinks), options
            )
        except OutOfTime:
            self._begin_again("")
            return False
        return not self.note

    def _classes(self) -> bool:
        """One block of each class; whether there are such classes."""
        if transfers(self.launched.program):
            why = "blocks are not shown to be alike: bytes are moved, or read, asynchronously"
            self.coverage = replace(self.coverage, why=why)
            return False
        options = replace(self._options, seconds=self._left())
        self.tracer = self._traced()
        every = (*self._sinks, *self.tracer.sinks)
        seconds = min(options.seconds, estimated_seconds(self.launched))
        try:
            self.coverage = from_classes(self.launched, every, options, seconds)
        except NoProof as reason:
            why = f"blocks are not shown to be alike: {reason}"
            if reason.ran:  # memory has changed
                self._begin_again(why)
            else:
                self.coverage = replace(self.coverage, why=why)
            return False
        self.note = "the NumPy engine runs one block of each class"
        return True

    def _sample(self, seconds: float, fault: KernelFault | None = None) -> None:
        """Some blocks, that stand for the others."""
        options = replace(self._options, seconds=seconds)
        self.tracer = self._traced()
        every = (*self._sinks, *self.tracer.sinks)
        try:
            found, self.samples = from_sample(self.launched, every, options)
        except OutOfTime as late:
            raise fault or late from None
        self.coverage = replace(found, why=self.coverage.why)
        self.note = "the NumPy engine runs the blocks of the sample"

    def _all(
        self, seconds: float, patient: bool, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """All blocks, or as many as are asked for."""
        launched = self.launched
        options = replace(self._options, seconds=seconds, patient=patient, clock=clock)
        if options.thorough or _few(launched, options):
            self.checked = options.checks
        program = launched.program
        checks = checking(self.checked, _lockstep(program.module), program)
        self.tracer = self._traced()
        every = (*self._sinks, *checks, *self.tracer.sinks)
        self.note = _compiled(launched, every, options)
        if self.note:
            try:
                done = interpret(launched, every, options, to_the_fault=True)
            except KernelFault as fault:
                for check in checks:
                    check.launch_end()
                fault.others = self.tracer.findings
                raise
            self.printed, self.ended = done.printed, done.ended
        run, blocks = self.tracer.tally.blocks, launched.launch.blocks
        self.coverage = replace(self.coverage, how="all" if run == blocks else "some", run=run)
        if self.ended is not None:
            at = f" at line {self.ended.line}" if self.ended.line else ""
            why = f"the {self.ended.kind}{at}"
            self.coverage = replace(self.coverage, how="ended", why=why)


def _few(launched: PreparedLaunch, options: Options) -> bool:
    """Whether the NumPy engine runs a launch because it is small."""
    if options.engine == "auto":
        return not worth_compiling(launched)
    return options.engine == "numpy"


def _compiled(launched: PreparedLaunch, sinks: Sequence[Sink], options: Options) -> str:
    """Run a launch on the compiled engine; why it did not, or ""."""
    if options.engine == "numpy":
        return "the NumPy engine was asked for"
    if options.engine == "auto" and not worth_compiling(launched):
        few = f"about {estimated_work(launched):,} thread instructions are few"
        return f"the NumPy engine ran this launch: {few}"
    from gpuviz.ptx.compiled.build import available  # LLVM is loaded when it is needed
    from gpuviz.ptx.compiled.engine import observe

    if not available():
        return "the NumPy engine ran this launch: there is no llvmlite here"
    try:
        if launched.program.cluster.size > 1:
            raise Bailout("blocks in clusters")
        if (length := len(launched.program.kernel.body)) > _LONGEST:
            raise Bailout(f"machine code of {length:,} instructions takes longer to make")
        observe(launched, sinks, options)
    except Bailout as reason:
        return f"the compiled engine left this launch to the NumPy engine: {reason}"
    return ""


# --- which engine suits a launch: the making of machine code has to come back ---------------------
# The work is guessed from the text and the arguments alone, so that the same launch always goes the
# same way.


def worth_compiling(launched: PreparedLaunch) -> bool:
    """Whether a launch is likely to be done sooner, the making of its code included."""
    return estimated_work(launched) >= LEAST_WORK + WORK_FOR_EACH * _size(launched)


def _own_time(least: float) -> Callable[[], float]:
    """The processor time of this thread, so that a busy machine changes no engine; but at least
    this fraction of everybody's time, of which the launch has a budget.
    """
    own, all_ = time.thread_time(), time.monotonic()
    return lambda: max(time.thread_time() - own, (time.monotonic() - all_) * least)


def _seconds_to_compile(launched: PreparedLaunch) -> float:
    """How long the making of machine code takes, roughly."""
    return (LEAST_WORK + WORK_FOR_EACH * _size(launched)) / _WHILE_COMPILING


def _size(launched: PreparedLaunch) -> int:
    """Instructions of a kernel and what it calls."""
    functions = reachable(launched.program.module, launched.program.kernel)
    return sum(len(function.body) for function in functions)


def estimated_work(launched: PreparedLaunch) -> int:
    """Thread instructions, roughly: each loop takes as many turns as the arguments suggest."""
    launch = launched.launch
    threads = launch.blocks * launch.threads_per_block
    elements = max((buffer.count for buffer in launch.buffers), default=0)
    sizes = [int(v) for _, v in launch.scalars if isinstance(v, int) and 1 < v <= _MOST_TURNS]
    turns = max([_USUAL_TURNS, *sizes, elements // threads])
    straight = looped = 0
    for function in reachable(launched.program.module, launched.program.kernel):
        straight += len(function.body)
        looped += _in_loops(function)
    return threads * (straight + turns * looped)


def estimated_seconds(launched: PreparedLaunch) -> float:
    """How long a whole launch may take, very roughly."""
    work = estimated_work(launched)
    return 0.5 + work / (_COMPILED_RATE if worth_compiling(launched) else _NUMPY_RATE)


def _in_loops(function: Function) -> int:
    """Instructions between the head of a loop and the last jump back to it."""
    blocks = spans(function)
    rank = visiting_order(blocks)
    inside = set()
    for number, block in enumerate(blocks):
        for follower in block.next:
            if rank[follower] <= rank[number]:
                first, last = rank[follower], rank[number]
                inside |= {n for n, r in enumerate(rank) if first <= r <= last}
    return sum(blocks[n].end - blocks[n].start for n in inside)


def _lockstep(module: Module) -> bool:
    """Whether the lanes of a warp run in step, as below compute capability 7.0."""
    found = re.search(r"^[ \t]*\.target\s+sm_(\d+)", module.text, re.MULTILINE)
    return found is not None and int(found[1]) < 70


def _keep_freed_memory() -> None:
    """Have the C library reuse freed blocks instead of handing them back to the system.

    glibc maps blocks of 128 KiB and more afresh, and each page of them costs a fault at first
    touch: many times what arithmetic on it costs. Freeing one large block raises that limit for the
    whole process (mallopt(3), M_MMAP_THRESHOLD, "dynamic"). Elsewhere this does nothing.
    """
    block = np.empty(_LARGE, np.uint8)
    del block
