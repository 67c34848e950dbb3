"""Writes down what the window does: lessons performed, failures, the GPU."""

from __future__ import annotations

from PySide6.QtCore import QElapsedTimer, QObject

from gpuviz.base.errors import Failure
from gpuviz.gpu.gpu_state import NOT_ASKED, State
from gpuviz.qt.diagnostics.log import LOG
from gpuviz.qt.running.director import Director
from gpuviz.qt.running.meter import Meter
from gpuviz.qt.running.worker import Job
from gpuviz.recordings.measurement import DeviceFacts


class ActivityLog(QObject):
    """Follows the director and the meter."""

    def __init__(self, director: Director, meter: Meter, parent: QObject) -> None:
        super().__init__(parent)
        self._clock = QElapsedTimer()
        self._why = NOT_ASKED
        director.performer.started.connect(self._start)
        director.performer.performed.connect(self._perform)
        director.failed.connect(self._fail)
        meter.found.connect(self._find)
        meter.troubled.connect(lambda said: LOG.warning("GPU: %s", said))
        meter.changed.connect(self._follow)

    def _start(self, job: Job) -> None:
        self._clock.start()

    def _perform(self, job: Job, performances: object) -> None:
        archs = " | ".join(f"{v.arch} {v.level}" for v in job.variants)
        LOG.info("performed %s for %s in %d ms", job.lesson.id, archs, self._clock.elapsed())

    def _fail(self, job: Job, failure: Failure) -> None:
        given = " | ".join(f"{dict(v.values)} {v.arch} {v.level}" for v in job.variants)
        LOG.warning("not performed: %s %s: %s", job.lesson.id, given, failure.message)
        if not failure.expected:
            LOG.error("%s", failure.details)

    def _find(self, device: DeviceFacts) -> None:
        LOG.info(
            "GPU: %s, CC %s, driver %s, CUDA %s, counters %s",
            device.name,
            device.capability,
            device.driver,
            device.cuda,
            device.counters or "available",
        )

    def _follow(self, state: State) -> None:
        """Why there is no GPU, once."""
        if state.device is None and state.activity == "idle" and state.why != self._why:
            self._why = state.why
            LOG.info("no GPU: %s", state.why)
