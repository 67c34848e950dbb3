"""Rewrites of a user's own kernel: tried in the background, and put into the editor when asked."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QTreeWidget, QTreeWidgetItem

from gpuviz.arch import architecture
from gpuviz.base.errors import failure_of
from gpuviz.processes.calls import ROOM, call
from gpuviz.qt.code.code_view import CodeView
from gpuviz.qt.controls.controls import label, plain_tip
from gpuviz.qt.controls.layouts import column_of
from gpuviz.qt.running.activity import Activity
from gpuviz.rewrites.proof import Advised, Trial, advise
from gpuviz.words.language import duration, later, tr

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from gpuviz.base.waiting import Cancel, Progress
    from gpuviz.qt.kernels.own_kernel import OwnKernel
    from gpuviz.qt.kernels.source_editing import SourceEditing
    from gpuviz.qt.look.theme import Theme
    from gpuviz.qt.running.core import Core
    from gpuviz.story.exhibit import Exhibit

_SIZE = (900, 620)


class RewriteTrials(Activity):
    """Tries the rewrites of the first launch shown."""

    advised = Signal(Advised)

    @property
    def doing(self) -> str:
        """What is under way, in words."""
        return tr("trying rewrites …")

    def begin(self, core: Core, showing: Exhibit) -> None:
        """Try those of what is shown, unless that is under way."""
        plan, arch = next(iter(showing.plans.values())), core.view.now.arch

        def work(progress: Progress, cancel: Cancel) -> Advised:
            job = core.meter.sources.job_of(plan, arch, library=showing.library)
            how = architecture(arch)
            return call(advise, job, how, memory=ROOM, progress=progress, cancel=cancel)

        if not self.busy:
            self._begin(work)

    def _end(self, outcome: object, stopped: bool) -> None:
        if isinstance(outcome, Advised):
            self.advised.emit(outcome)
        elif isinstance(outcome, Exception) and not stopped:
            self.failed.emit(failure_of(outcome))
        self.rested.emit(tr("stopped") if stopped else "")


class RewritesDialog(QDialog):
    """What was tried: what is right and faster first; the one chosen as a diff."""

    chosen = Signal(Trial)  # its text is to be put into the editor

    def __init__(self, found: Advised, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Rewrites that were tried"))
        self._found = found
        self.list = QTreeWidget()
        self.list.setAccessibleName(tr("Rewrites that were tried"))
        self.list.setRootIsDecorated(False)
        self.list.setHeaderLabels([tr("Rewrite"), tr("What came of it")])
        self.diff = CodeView(tr("changes"), "diff", theme)
        for trial in found.trials:
            item = QTreeWidgetItem([trial.rewrite.does, result_words(found, trial)])
            item.setToolTip(1, plain_tip(result_words(found, trial)))
            if trial.verdict != "faster":
                item.setForeground(0, theme.look.color("muted"))
                item.setForeground(1, theme.look.color("muted"))
            self.list.addTopLevelItem(item)
        self.list.setColumnWidth(0, round(_SIZE[0] * 0.5))
        self.list.currentItemChanged.connect(lambda now, before: self._show())
        kinds = QDialogButtonBox.StandardButton
        self.buttons = QDialogButtonBox(kinds.Close)
        self.use = self.buttons.addButton(
            tr("Put into the editor"), QDialogButtonBox.ButtonRole.AcceptRole
        )
        self.use.clicked.connect(self._choose)
        self.buttons.rejected.connect(self.reject)
        margins = 16, 14, 16, 14
        words = label(head_words(found), wraps=True)
        column_of(
            words, (self.list, 2), (self.diff, 3), self.buttons, on=self, gap=10, margins=margins
        )
        self.resize(*_SIZE)
        if (first := self.list.topLevelItem(0)) is not None:
            self.list.setCurrentItem(first)
        self._show()

    @property
    def trial(self) -> Trial | None:
        """The one that is chosen."""
        row = self.list.currentIndex().row()
        return self._found.trials[row] if row >= 0 else None

    def _show(self) -> None:
        trial = self.trial
        self.diff.show_code(self._found.diff(trial) if trial else "", {})
        self.use.setEnabled(trial is not None and trial.verdict == "faster")

    def _choose(self) -> None:
        if self.trial is not None:
            self.chosen.emit(self.trial)
        self.accept()


def head_words(found: Advised) -> str:
    """What the launch takes, and what was looked at."""
    if not found.trials:
        return tr("Nothing to try was found in this kernel.")
    return tr(
        "The launch takes {time} as modelled. Each rewrite was compiled, run, compared with the "
        "kernel as it is and looked through for faults: it is right for this launch, as far as "
        "trying can tell.",
        time=duration(found.microseconds),
    )


def result_words(found: Advised, trial: Trial) -> str:
    """What came of one."""
    if trial.microseconds is None:
        return tr(_VERDICTS[trial.verdict], why=trial.why)
    known = {
        "time": duration(trial.microseconds),
        "times": f"{found.microseconds / trial.microseconds:.3g}",
        "outputs": trial.outputs,
    }
    return tr(_VERDICTS[trial.verdict], **known)


_VERDICTS = {
    "faster": later("{times} times as fast: {time}; buffers {outputs}"),
    "not faster": later("right, not faster: {time}"),
    "wrong": later("wrong: {why}"),
    "does not run": later("does not run: {why}"),
}


class KernelRewrites(QObject):
    """Shows what was found, and puts what is chosen into the editor."""

    def __init__(self, core: Core, own: OwnKernel, editing: SourceEditing, window: QWidget) -> None:
        super().__init__(window)
        self._core, self._own, self._editing, self._window = core, own, editing, window
        self.dialog: RewritesDialog | None = None
        self.trials = RewriteTrials(self)
        self.trials.advised.connect(self._tell)

    def begin(self) -> None:
        """Try the rewrites of the kernel that is shown."""
        if self._core.director.showing is not None and self._own.launch is not None:
            self.trials.begin(self._core, self._core.director.showing)

    def _tell(self, found: Advised) -> None:
        if self.dialog is not None:
            self.dialog.deleteLater()
        self.dialog = RewritesDialog(found, self._core.theme, self._window)
        self.dialog.chosen.connect(partial(self._use, found))
        self.dialog.show()

    def _use(self, found: Advised, trial: Trial) -> None:
        """Its text, and its sizes where they are others; not over what was written since."""
        launch, made = self._own.launch, trial.job
        if launch is None or made is None or self._own.text != found.job.program.source:
            self._editing.said.emit(tr("the source is another one since: try the rewrites again"))
            return
        self._editing.put(trial.rewrite.text)
        if (made.grid, made.block) != (launch.grid, launch.block):
            said = replace(launch.said, grid="", block="")
            self._own.want(replace(launch, grid=made.grid, block=made.block, said=said))
