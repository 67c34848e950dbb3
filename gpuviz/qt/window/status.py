"""The bar at the bottom: device, what is running, what the checks found, what is watched."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Signal
from PySide6.QtWidgets import QFrame, QProgressBar

from gpuviz.base.waiting import TimeLeft
from gpuviz.gpu.gpu_state import State, why_of
from gpuviz.qt.commands.actions import LONGER
from gpuviz.qt.controls.controls import (
    ClippedLabel,
    button,
    keep_space,
    label,
    plain_tip,
    set_look,
    timer,
)
from gpuviz.qt.controls.layouts import row_of
from gpuviz.qt.controls.message import Announcer
from gpuviz.recordings.measurement import Telemetry
from gpuviz.words.language import grouped, tr, trn, typeset
from gpuviz.words.terminal import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gpuviz.base.errors import Failure
    from gpuviz.qt.running.activity import Activity
    from gpuviz.qt.running.director import Director
    from gpuviz.qt.running.meter import Meter
    from gpuviz.qt.running.worker import Job
    from gpuviz.run.run import Run
    from gpuviz.story.exhibit import Exhibit, Side
    from gpuviz.traces.trace import Finding

# A run shorter than this is not announced: a bar that flashes says nothing.
QUIET_MS = 200


@dataclass(frozen=True)
class Offer:
    """What can be done about what the bar says: the words of the button, its tip, the deed."""

    text: str
    tip: str
    do: Callable[[], object]


class Status(QFrame):
    """Follows the director."""

    findings_asked = Signal(list)  # the user wants to read what the checks found

    def __init__(self, director: Director) -> None:
        super().__init__()
        self.setObjectName("status")
        self._findings: list[tuple[str, Finding]] = []
        self._job: Job | None = None
        self._announced = ""
        self._left = TimeLeft()
        self._performer = director.performer
        self._activities: list[Activity] = []
        self._held: tuple[str, Offer | None] | None = None  # for when the run under way is done
        self._offer: Offer | None = None
        self.device = label("", "quiet")
        self.counters = label("", "quiet")
        self._telemetry = Telemetry()
        self._state = State()
        self.running = ClippedLabel("quiet")  # long words do not make the window wider
        self.progress = QProgressBar()
        self.progress.setRange(0, 100)
        self.progress.setTextVisible(False)
        self.progress.setFixedWidth(120)
        self.progress.setAccessibleName(tr("Progress"))
        tip = tr("Cancel what is under way  (Esc)")
        self.cancel = button(tr("cancel"), tr("Cancel what is under way"), "link", tip)
        self.cancel.clicked.connect(self.stop)
        self.findings = button(
            "", tr("Findings of the checks"), "link", tr("What the checks found")
        )
        self.findings.clicked.connect(lambda: self.findings_asked.emit(self._findings))
        self.link = button("", "", "link")
        self.link.clicked.connect(self._follow_link)
        self.watched = label("", "quiet")
        self.announcer = Announcer(self)
        self._lay_out()
        self._timer = timer(self, QUIET_MS, lambda: self._show_running(True))
        self._rest()
        performer = director.performer
        performer.started.connect(self._start)
        performer.progressed.connect(self._move)
        performer.performed.connect(lambda job, _: self._counted(job, director.showing))
        performer.rested.connect(self._rest)
        director.performed.connect(self.show_runs)
        director.failed.connect(self._fail)
        director.forgotten.connect(self._forget)

    def show_runs(self, showing: Exhibit) -> None:
        """Findings of all runs, and which block is watched."""
        runs = showing.runs
        self._findings = [(role, f) for role, run in runs.items() for f in run.trace.findings]
        self.findings.setText(_summary(self._findings) or tr("not checked"))
        severities = {f.severity for _, f in self._findings}
        worst = "error" if "error" in severities else "warning" if severities else ""
        set_look(self.findings, "severity", worst)
        self.findings.setVisible(bool(self._findings) or any(map(_unchecked, showing.sides)))
        self._write(" · ".join(work_words(runs)))
        self.watched.setText(_watched(runs[next(iter(runs))]))

    def say(self, words: str, offer: Offer | None = None) -> None:
        """What goes on, until something else does; told to screen readers, too."""
        self._write(words, offer)
        self.announcer.say(words)

    def _write(self, words: str, offer: Offer | None = None) -> None:
        words = visible(words)
        self.running.setText(words)
        self.running.setToolTip(plain_tip(words))
        self._offer = offer
        self.link.setVisible(offer is not None)
        if offer is not None:
            self.link.setText(offer.text)
            self.link.setAccessibleName(offer.tip)
            self.link.setToolTip(offer.tip)

    def offer(self, offer: Offer) -> None:
        """A button behind what was said last."""
        if self._held is not None:
            self._held = self._held[0], offer
        else:
            self.say(self.running.text(), offer)

    def _follow_link(self) -> None:
        if self._offer is not None:
            self._offer.do()

    def stop(self) -> None:
        """Cancel what the bar shows: the run, or else the activity."""
        active = self._active()
        if self._job is None and active is not None:
            active.cancel()
        self._performer.cancel()

    def follow_activity(self, activity: Activity) -> None:
        """Show how far it is, while no run is under way."""
        self._activities.append(activity)
        activity.progressed.connect(partial(self._show_activity, activity))
        activity.rested.connect(self._end_activity)

    def _active(self) -> Activity | None:
        """Of the activities under way the one that is shown."""
        return next((one for one in self._activities if one.busy), None)

    def _show_activity(self, activity: Activity, fraction: float) -> None:
        if self._job is None and activity is self._active():
            self._move(fraction)
            self._show_running(True)
            self._write(activity.doing)

    def _end_activity(self, words: str) -> None:
        if self._job is not None:
            self._held = words, None
        else:
            self._show_running(False)
            self.say(words)

    def follow(self, meter: Meter) -> None:
        """Show the GPU of this meter."""
        meter.changed.connect(self._show_state)
        meter.sensed.connect(self._show_telemetry)
        self._show_state(meter.state)

    def _show_state(self, state: State) -> None:
        if state.device is None or state.device != self._state.device:
            self._telemetry = Telemetry()
        self._state = state
        text, tip, good = counters_words(state)
        self.counters.setText(text)
        self.counters.setToolTip(plain_tip(tip))
        set_look(self.counters, "good", good)
        self._show_telemetry(self._telemetry)

    def _show_telemetry(self, telemetry: Telemetry) -> None:
        self._telemetry = telemetry
        device = self._state.device
        said = " · ".join(telemetry_words(telemetry))
        self.device.setText(" · ".join(w for w in (device.name, said) if w) if device else "")
        self.device.setVisible(device is not None)

    def _lay_out(self) -> None:
        words = self.counters, self.device, self.running, self.link
        parts = *words, self.progress, self.cancel, self.findings, 1, self.watched
        row_of(*parts, on=self, gap=14, margins=(14, 3, 14, 3))
        for made in (self.cancel, self.findings, self.link):
            keep_space(made)
        for made in (self.findings, self.link):
            made.hide()
        self._fit()

    def _fit(self) -> None:
        """A button that comes and goes must not move everything above the bar."""
        self.setFixedHeight(self.cancel.sizeHint().height() + 4)

    def changeEvent(self, event: QEvent) -> None:
        """Larger text needs a higher bar."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.StyleChange, QEvent.Type.FontChange):
            self._fit()

    def _start(self, job: Job) -> None:
        self._job, self._left, self._announced = job, TimeLeft(), ""
        self._advance(0)
        self._timer.start()

    def _advance(self, percent: int) -> None:
        """Qt would paint the bar at once, and whatever else of the window is to be painted."""
        self.progress.setUpdatesEnabled(False)
        self.progress.setValue(percent)
        self.progress.setUpdatesEnabled(True)

    def _move(self, fraction: float) -> None:
        self._advance(round(fraction * 100))
        if self._announced and self._job is not None and (left := self._left.at(fraction)):
            self._write(self._announced + " " + tr("about {time} left", time=left))

    def _counted(self, job: Job, showing: Exhibit | None) -> None:
        """What is told anew only, once a companion is counted, is not performed: what was said of
        that is over.
        """
        if job.begun and showing is not None and self._announcing:
            self.show_runs(showing)

    def _rest(self) -> None:
        self._job = None
        self._timer.stop()
        self._show_running(False)
        if self._held is not None:
            held, self._held = self._held, None
            self.say(*held)

    def _forget(self) -> None:
        self._findings = []
        self.findings.hide()
        self.watched.clear()

    def _fail(self, job: Job, failure: Failure) -> None:
        self.say(tr("{lesson}: not run", lesson=tr(job.lesson.title)))

    def _show_running(self, running: bool) -> None:
        self.progress.setVisible(running)
        self.cancel.setVisible(running)
        if running and self._job is not None:
            archs = " | ".join(dict.fromkeys(v.arch for v in self._job.variants))
            lesson = tr(self._job.lesson.title)
            self._announced = (
                tr("counting {lesson} at real size for {archs} …", lesson=lesson, archs=archs)
                if self._job.begun
                else tr("running {lesson} for {archs} …", lesson=lesson, archs=archs)
            )
            self.say(self._announced)
        elif self._announcing:
            self.say(tr("cancelled"))

    @property
    def _announcing(self) -> bool:
        """Whether the bar still says what is under way."""
        return bool(self._announced) and self.running.text().startswith(self._announced)


def counters_words(state: State) -> tuple[str, str, bool]:
    """Where counts come from, a tip, and whether the hardware's counters can be read."""
    if state.device is not None and not state.device.counters:
        return "● " + tr("counters available"), tr("The hardware's counters can be read."), True
    if state.device is not None:
        return "▲ " + tr("counters unavailable"), state.device.counters, False
    if state.recorded:
        return state.recorded, tr("No GPU: {why}.", why=why_of(state)), False
    said = tr("no GPU: counts are predicted, none measured")
    return said, tr("No GPU: {why}.", why=why_of(state)), False


def telemetry_words(telemetry: Telemetry) -> list[str]:
    """What NVML tells, each with its unit."""
    parts = (
        ("SM {} MHz", telemetry.sm_clock),
        ("{} °C", telemetry.temperature),
        ("{} W", telemetry.power),
    )
    said = [words.format(grouped(value)) for words, value in parts if value is not None]
    return said + [tr("slowed: {reason}", reason=reason) for reason in telemetry.throttle]


def _unchecked(side: Side) -> bool:
    """Whether a launch was too large for what was to be looked for; not if only timed beside."""
    runs = side.performance.runs.values()
    unlooked = [run for run in runs if run.engine and not run.checked and not run.companion_of]
    return bool(side.variant.checks and unlooked)


def _summary(findings: list[tuple[str, Finding]]) -> str:
    """How many errors and warnings."""
    errors = sum(f.severity == "error" for _, f in findings)
    warnings = sum(f.severity == "warning" for _, f in findings)
    said = []
    if errors:
        said.append(trn("{n} error", "{n} errors", errors))
    if warnings:
        said.append(trn("{n} warning", "{n} warnings", warnings))
    return "▲ " + ", ".join(said) if said else ""


def work_words(runs: Mapping[str, Run]) -> list[str]:
    """How much of the launch in the picture was executed, how much of the same at real size where
    that was counted, and what else to know of them.
    """
    drawn = next(iter(runs.values()))
    real = next((run for run in runs.values() if run.companion_of), None)
    beside = [tr("at real size: {work}", work=_work(real))] if real is not None else []
    told = {run.coverage.note for run in runs.values() if run.coverage is not None}
    notes = dict.fromkeys(n for run in runs.values() for n in run.trace.notes if n not in told)
    return [_work(drawn), *beside, *map(typeset, notes)]


def _work(run: Run) -> str:
    """How much of the launch was executed, and what that makes of its counts."""
    blocks, done = run.trace.launch.blocks, run.trace.blocks_emulated
    how = run.coverage.how if run.coverage is not None else "all"
    if how == "ended":
        return tr("emulated up to a fault")
    if run.coverage is not None:
        done = run.coverage.run  # counts may be of more: of all blocks that do what these do
    if done < blocks:
        said = {"done": grouped(done), "blocks": grouped(blocks)}
        if how == "classes":
            return tr("emulated {done} of {blocks} blocks, the others provably do the same", **said)
        if how == "sample":
            return tr(
                "emulated {done} of {blocks} blocks ({share}): counts are estimates; {key} goes on",
                share=run.coverage.share if run.coverage is not None else "",
                key=LONGER,
                **said,
            )
        return tr("emulated {done} of {blocks} blocks", **said)
    return trn("emulated {count} block", "emulated {count} blocks", blocks, count=grouped(blocks))


def _watched(run: Run) -> str:
    """The block whose requests are shown."""
    launch = run.trace.launch
    if not run.trace.recorded:
        return ""
    block = launch.block_index(run.trace.recorded[0])
    warps = launch.warps_per_block
    several = trn("{n} warp", "{n} warps", warps)
    place = grouped(block[0]) if launch.grid[1:] == (1, 1) else str(block)
    blocks = grouped(launch.blocks)
    return tr("block {place} of {blocks} · {warps}", place=place, blocks=blocks, warps=several)
