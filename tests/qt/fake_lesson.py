"""Two tiny lessons and a way to perform them without compiler or emulator."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from gpuviz.arch import architecture
from gpuviz.arguments import parse
from gpuviz.base.errors import Cancelled, UnavailableError
from gpuviz.base.waiting import Cancel, Progress
from gpuviz.compile import Program
from gpuviz.course import LessonEntry
from gpuviz.draw.marks import Boxes, Frame, Texts
from gpuviz.draw.stage import Stage
from gpuviz.launch.job import Job, Whose
from gpuviz.memory.counting import Counter
from gpuviz.run.run import Level, Run
from gpuviz.run.session import Library
from gpuviz.story.lesson import Lesson, Parameter, Plan, Preset, Story, Value, Values
from gpuviz.story.measured import time_of
from gpuviz.story.perform import Performance
from gpuviz.story.script import Step
from gpuviz.traces.observe import Access
from gpuviz.traces.trace import Finding, Launch, MemoryInstruction, Requests, Trace

SOURCE = """extern "C" __global__ void pairs(const float* in, float* out, int stride) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i * stride];  // one word a lane
}
"""
PTX = """.version 8.4
.target sm_90
.address_size 64
.visible .entry pairs(
.param .u64 pairs_param_0, .param .u64 pairs_param_1, .param .u32 pairs_param_2)
{
.reg .b32 %r<4>;
.reg .f32 %f<2>;
.reg .b64 %rd<6>;
.file 1 "pairs.cu"
.loc 1 2 5
mov.u32 %r1, %tid.x;
.loc 1 3 5
ld.param.u64 %rd1, [pairs_param_0];
ld.global.f32 %f1, [%rd1];
ld.param.u64 %rd2, [pairs_param_1];
st.global.f32 [%rd2], %f1;
.loc 1 4 1
ret;
}
"""
LOAD = MemoryInstruction(2, 3, 15, "ld.global.f32", "load", "global", 4, "f32")
STORE = MemoryInstruction(4, 3, 17, "st.global.f32", "store", "global", 4, "f32")


def _frame(t: float, stage: Stage, stride: int, steps: tuple[Step, ...], times: str) -> Frame:
    """A bar for each lane; those before the hand are done. The launches' times stand below."""
    colors = stage.palette
    share = t / steps[-1].end
    x = stage.margin + np.arange(32) * (stage.width - 2 * stage.margin) / 32
    rect = np.stack([x, np.full(32, 90.0), np.full(32, 14.0), np.full(32, 60.0)], 1)
    fill = colors.state(colors.lanes, np.clip(share * 32 - np.arange(32), 0, 1))
    boxes = Boxes(
        rect.astype(np.float32),
        fill=fill,
        radius=3.0,
        tip=lambda i: f"lane {i} reads word {i * stride}",
    )
    at = np.array([[stage.margin, 32.0]], np.float32)
    words = (f"One warp reads every word {stride}",)
    title = Texts(at, words, colors.ink, stage.text(26), bold=True)
    low = np.array([[stage.margin, 200.0]], np.float32)
    return stage.frame(title, boxes, Texts(low, (times,), colors.ink, stage.text(14)))


def _steps() -> tuple[Step, ...]:
    loads = [
        Step(i, i + 1, "load", f"sector {i}", "ld.global.f32 · 4 sectors", 3, "pairs")
        for i in range(4)
    ]
    return (*loads, Step(4.0, 6.0, "store", "store", "st.global.f32 · 4 sectors", 3, "pairs"))


def _narrate(values: Values, runs: Mapping[str, Run]) -> Story:
    stride, steps = int(values["stride"]), _steps()
    found = {role: time_of(run) for role, run in runs.items()}
    times = ", ".join(f"{r}: {t.badge} {t.text} {t.device}" for r, t in found.items() if t)
    return Story(
        f"One warp reads every word {stride}",
        "What lies between is fetched for nothing.",
        steps,
        lambda t, stage: _frame(t, stage, stride, steps, times),
        "load sectors = 4 × stride × requests",
    )


ELEMENTS = {"float": "float, 4 bytes", "double": "double, 8 bytes"}


def _problem(values: Values) -> str:
    bad = values["element"] == "double" and int(values["stride"]) > 8
    return "A double with a stride above 8 leaves the buffer." if bad else ""


def lesson(id: str, title: str, chapter: str) -> Lesson:
    """A lesson with one parameter of each kind."""
    return Lesson(
        id,
        title,
        chapter,
        "How the stride multiplies the sectors.",
        (
            Parameter("stride", "stride", 2, 1, 32, hint="Words from one lane's to the next's."),
            Parameter("element", "element", "float", offers=ELEMENTS, compiled=True),
            Parameter("guard", "guard", False, hint="Leave out the lanes beyond the end."),
        ),
        (Preset("every word", {"stride": 1}), Preset("a line a lane", {"stride": 32})),
        lambda values: (),
        _narrate,
        _problem,
    )


LESSONS = (
    lesson("pairs", "Coalescing", "Global memory"),
    lesson("strides", "Strides, offsets, groups", "Global memory"),
    lesson("sums", "Matmul: tiled", "Putting it together"),
)
COURSE = tuple(map(LessonEntry.of, LESSONS))


def run(values: Values, arch: str, level: Level, findings: tuple[Finding, ...] = ()) -> Run:
    """A launch of 512 warps, counted by the real counter."""
    stride = int(values["stride"])
    lanes = np.arange(32, dtype=np.uint64)
    counter = Counter(architecture(arch))
    counter.access(Access(LOAD, (0x1000 + 4 * stride * lanes)[None, :], None, 512))
    counter.access(Access(STORE, (0x9000 + 4 * lanes)[None, :], None, 512))
    none = np.zeros(0, np.int64)
    requests = Requests(
        none.astype(np.int32),
        none,
        none,
        none.astype(np.int32),
        none.astype(np.int32),
        none.astype(np.uint32),
        np.zeros((0, 32), np.uint64),
    )
    launch = Launch("pairs", (64, 1, 1), (256, 1, 1))
    trace = Trace(
        launch,
        (LOAD, STORE),
        requests,
        (0,),
        64,
        1000,
        32,
        findings=findings,
        source=SOURCE,
        ptx=PTX,
        arch=arch,
    )
    outputs = {"in": np.arange(64, dtype=np.float32), "out": np.zeros(32, np.float32)}
    return Run(trace, counter.result(), outputs, arch, level, "SASS equals the PTX here.")


def plan(role: str, values: Values) -> Plan:
    """A launch of a kernel that exists; `job_of` makes a job of it without a compiler."""
    arguments = ("f32[64]=arange", "f32[32]=zeros", f"i32={values['stride']}")
    return Plan(role, "coalescing.cu", "pairs", (64, 1, 1), (256, 1, 1), arguments)


def job_of(plan: Plan, arch: str, library: Library | None = None) -> Job:
    """The job of `plan`; nobody executes its machine code."""
    program = Program(PTX, b"machine code", "", {}, (), SOURCE, "pairs.cu", arch, "none")
    whose: Whose = "stranger" if Path(plan.kernel).is_absolute() else "course"
    given = tuple(map(parse, plan.arguments))
    return Job(program, "pairs", plan.grid, plan.block, given, whose=whose)


@dataclass
class FakePerform:
    """Performs at once, or slowly and cancellably, or fails; remembers what it was asked."""

    asked: list[dict[str, Value]] = field(default_factory=list)
    cancelled: list[dict[str, Value]] = field(default_factory=list)
    checked: list[tuple[str, ...]] = field(default_factory=list)
    budgets: list[float] = field(default_factory=list)
    slow: Callable[[Values], bool] = lambda values: False
    error: Callable[[Values], Exception | None] = lambda values: None
    findings: tuple[Finding, ...] = ()
    engine: str = ""
    roles: tuple[str, ...] = ("pairs",)
    planned: bool = False  # whether there is a launch that a GPU could run
    ships: bool = False  # whether there is prebuilt PTX
    beside: int = 0  # how many of the planned launches have a companion
    later: tuple[str, ...] = ()  # further roles that only a table needs

    def __call__(
        self,
        lesson: Lesson,
        values: Values,
        *,
        arch: str,
        level: Level,
        progress: Progress,
        cancel: Cancel,
        prebuilt: bool = False,
        library: Library | None = None,
        checks: tuple[str, ...] = (),
        seconds: float = 60.0,
        begun: Performance | None = None,
        hasty: bool = False,
    ) -> Performance:
        """The performance of a lesson; of PTX that ships only if there is some."""
        self.checked.append(checks)
        self.budgets.append(seconds)
        if prebuilt and not self.ships:
            raise UnavailableError("has to be compiled")
        self.asked.append(dict(values))
        if not prebuilt and self.slow(values):
            self._wait(values, progress, cancel)
        if error := self.error(values):
            raise error
        made = replace(run(values, arch, level, self.findings), engine=self.engine)
        runs = dict.fromkeys(self.roles, made)
        plans = tuple(plan(role, values) for role in self.roles) if self.planned else ()
        plans += tuple(replace(plan(role, values), later=True) for role in self.later)
        if begun or not hasty:
            runs |= dict.fromkeys(self.later, made)
        for one in [p.companion("2^20 words", p.grid, p.arguments) for p in plans[: self.beside]]:
            plans += (one,)
            if begun:
                runs[one.role] = replace(
                    run(values, arch, level), size=one.size, companion_of=one.companion_of
                )
        return Performance(lesson.narrate(values, runs), runs, plans)

    def _wait(self, values: Values, progress: Progress, cancel: Cancel) -> None:
        for tick in range(2000):
            progress(tick / 2000)
            if cancel():
                self.cancelled.append(dict(values))
                raise Cancelled("cancelled")
            time.sleep(0.005)
