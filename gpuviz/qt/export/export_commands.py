"""The commands of the menu “Export”: what each asks, and the task that it gives to the queue."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from os.path import isdir
from pathlib import Path

from PySide6.QtCore import QObject, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QDialog, QWidget

from gpuviz.base.errors import InputError
from gpuviz.base.waiting import Cancel, Progress
from gpuviz.export import png
from gpuviz.export.export import Options
from gpuviz.export.formats import CSV, PDF, PNG, SVG, TIMELINE, Holds, holding
from gpuviz.export.save import name_for, save, save_timeline, save_traces
from gpuviz.export.settings import FilmSettings, PictureSettings, as_text, remembered
from gpuviz.files.allowed_paths import local
from gpuviz.files.folders import TRACE
from gpuviz.files.writing import write
from gpuviz.qt.commands.actions import Actions
from gpuviz.qt.counts.counts import Counts
from gpuviz.qt.counts.counts_model import as_table
from gpuviz.qt.export import file_dialogs
from gpuviz.qt.export.export_queue import ExportQueue, ExportResult, Task, clip
from gpuviz.qt.export.picture_dialogs import FilmDialog, StillDialog
from gpuviz.qt.look.theme import Theme
from gpuviz.qt.painting.qt_painter import QtPainter, rgba
from gpuviz.qt.preferences.settings import Settings
from gpuviz.qt.running.meter import Meter
from gpuviz.qt.running.view_recorder import ViewRecorder
from gpuviz.qt.timing.timing_panel import TimingPanel
from gpuviz.results.timings import times_table
from gpuviz.views.lesson_view import View
from gpuviz.views.make_view import badges
from gpuviz.views.provenance import file_name
from gpuviz.words.language import tr

QUICK = Options(pixels=2)


@dataclass(frozen=True, eq=False)
class Parts:
    """The parts of the window that there is something to save of."""

    recorder: ViewRecorder
    meter: Meter
    counts: Counts
    timing: TimingPanel
    theme: Theme


class ExportCommands(QObject):
    """Asks how and where, then lets `exports` write. How to ask for a file can be exchanged."""

    said = Signal(str)  # a remark for the status bar

    def __init__(self, window: QWidget, parts: Parts, kept: Settings, actions: Actions) -> None:
        super().__init__(window)
        self._window, self._parts, self._kept = window, parts, kept
        self.exports = ExportQueue(self)
        self.ask_where: file_dialogs.AskWhere = file_dialogs.ask_where
        self.quick_folder: Callable[[], Path] = file_dialogs.pictures_folder
        self.open_folder: Callable[[Path], object] = _open_folder
        self.dialog: QDialog | None = None
        for id, do in self._commands().items():
            actions.bind(id, do)

    def _commands(self) -> dict[str, Callable[[], None]]:
        return {
            "export.quick": self.quick,
            "export.copy": self.copy,
            "export.still": self.still,
            "export.film": lambda: self.film(page=False),
            "export.page": lambda: self.film(page=True),
            "export.window": self.window_picture,
            "export.table": self.copy_table,
            "export.counts": self.save_counts,
            "export.trace": self.save_trace,
            "export.times": self.save_times,
            "export.timeline": self.save_timeline,
        }

    def view(self) -> View | None:
        """The view shown, its runs with the newest measurements; says so when there is none."""
        found = self._parts.recorder.view()
        if found is None:
            self.said.emit(tr("There is nothing to save yet."))
        return found

    def measured(self, view: View) -> View:
        """The view as data: with what was measured since it was drawn."""
        known = self._parts.meter.known
        runs = {
            key: replace(run, measurement=known.get(key, run.measurement))
            for key, run in view.runs.items()
        }
        made = replace(view.provenance, badges=badges(runs))
        return replace(view, runs=runs, provenance=made)

    def _queue(self, path: Path, make: Callable[[Progress, Cancel], bytes]) -> None:
        """Write to a file what is made in the background."""

        def work(progress: Progress, cancel: Cancel) -> ExportResult:
            write(path, make(progress, cancel))
            return ExportResult((path,))

        self.exports.add(Task(path.name, work))

    def quick(self) -> None:
        """The picture into the pictures folder and on the clipboard, without a question."""
        if (view := self.view()) is None:
            return
        folder = self.quick_folder()

        def work(progress: Progress, cancel: Cancel) -> ExportResult:
            made = clip(view, QUICK)
            path = file_dialogs.free(folder / name_for(view))
            write(path, made.png)
            return ExportResult((path,), made)

        self.exports.add(Task(name_for(view), work))

    def copy(self) -> None:
        """The picture on the clipboard."""
        if (view := self.view()) is not None:
            self.exports.add(
                Task(
                    tr("the picture"), lambda progress, cancel: ExportResult((), clip(view, QUICK))
                )
            )

    def still(self) -> None:
        """Ask how the picture is wanted, then where."""
        if (view := self.view()) is None:
            return
        wanted = remembered(self._kept.text("export/still", ""), PictureSettings())
        dialog = StillDialog(view, wanted, self._parts.theme, self._window)
        self._ask(dialog, lambda: self._save_still(view, dialog.wanted()))

    def film(self, page: bool) -> None:
        """Ask how the film, or the page, is wanted, then where."""
        if (view := self.view()) is None:
            return
        wanted = remembered(self._kept.text("export/film", ""), FilmSettings())
        if page or wanted.format.holds == "page":
            wanted = replace(wanted, suffix=holding("page" if page else "film")[0].suffix)
        dialog = FilmDialog(view, wanted, self._parts.theme, self._window)
        self._ask(dialog, lambda: self._save_film(view, dialog.wanted()))

    def window_picture(self) -> None:
        """The whole window as it is now."""
        shown = self._parts.recorder.view()
        made = shown.provenance if shown is not None else self._parts.recorder.record()
        image = self._window.grab().toImage()
        name = "window-" + file_name(made, PNG.suffix)
        if path := self._where(tr("Save window as picture"), name, (PNG.suffix,)):
            self._queue(path, lambda progress, cancel: png.picture(rgba(image), made))

    def copy_table(self) -> None:
        """The table of counts as it is shown, as Markdown, on the clipboard."""
        QGuiApplication.clipboard().setText(as_table(self._parts.counts.model).markdown())
        self.said.emit(tr("counts copied as a Markdown table"))

    def save_counts(self) -> None:
        """All counts and measurements as data."""
        if (view := self.view()) is None:
            return
        path = self._where(tr("Save counts"), name_for(view, CSV.suffix), _suffixes("data"))
        if path is not None:
            self._add(self.measured(view), path, Options())

    def save_trace(self) -> None:
        """The trace of each run."""
        if (view := self.view()) is None:
            return
        if path := self._where(tr("Save trace"), name_for(view, TRACE), (TRACE,)):
            self.exports.add(
                Task(
                    path.name,
                    lambda progress, cancel: ExportResult(
                        save_traces(view, path, file_dialogs.free)
                    ),
                )
            )

    def save_timeline(self) -> None:
        """Where the time of the launch goes that is shown now: for Perfetto, or as a picture."""
        if (view := self.view()) is None:
            return
        suffixes = tuple(one.suffix for one in (TIMELINE, SVG, PNG, PDF))
        name = "timeline-" + name_for(view, TIMELINE.suffix)
        if path := self._where(tr("Save timeline"), name, suffixes):

            def work(progress: Progress, cancel: Cancel) -> ExportResult:
                save_timeline(view, path, QtPainter(), progress, cancel)
                return ExportResult((path,))

            self.exports.add(Task(path.name, work))

    def save_times(self) -> None:
        """Every duration that the timing panel has."""
        if (view := self.view()) is None:
            return
        table = times_table(self._parts.timing.series, self._parts.meter.known)
        if not table.rows:
            self.said.emit(tr("Nothing has been timed: there is no GPU and no recording."))
            return
        name = "times-" + name_for(view, CSV.suffix)
        if path := self._where(tr("Save timings"), name, (CSV.suffix,)):
            self._queue(path, lambda progress, cancel: table.csv().encode())

    def save_made(
        self, title: str, name: str, suffix: str, make: Callable[[Progress, Cancel], bytes]
    ) -> None:
        """Ask for a file, and write what is made in the background."""
        if path := self._where(title, name, (suffix,)):
            self._queue(path, make)

    def _ask(self, dialog: QDialog, accepted: Callable[[], None]) -> None:
        self.dialog = dialog
        dialog.accepted.connect(accepted)
        dialog.finished.connect(self._forget_dialog)
        dialog.open()

    def _forget_dialog(self) -> None:
        if self.dialog is not None:
            self.dialog.deleteLater()
            self.dialog = None

    def _save_still(self, view: View, wanted: PictureSettings) -> None:
        self._kept.keep("export/still", as_text(wanted))
        sized = wanted.view(view)
        suffixes = _first(wanted.suffix, _suffixes("picture"))
        if path := self._where(tr("Save picture"), name_for(sized, wanted.suffix), suffixes):
            self._add(sized, path, wanted.options())

    def _save_film(self, view: View, wanted: FilmSettings) -> None:
        self._kept.keep("export/film", as_text(wanted))
        views = wanted.views(view)
        name = name_for(next(iter(views.values())), wanted.suffix)
        path = self._where(tr("Save film or page"), name, (wanted.suffix,))
        if path is None:
            return
        for theme, one in views.items():
            of_theme = path.with_name(f"{path.stem}-{theme}{path.suffix}")
            self._add(one, file_dialogs.free(of_theme) if theme else path, wanted.options())

    def _where(self, title: str, name: str, suffixes: tuple[str, ...]) -> Path | None:
        """Ask for a file, beginning in the folder of the last one."""
        folder = self._last_folder() or self.quick_folder()
        path = self.ask_where(self._window, file_dialogs.Question(title, folder / name, suffixes))
        if path is not None:
            self._kept.keep("export/folder", str(path.parent))
        return path

    def _last_folder(self) -> Path | None:
        """Where the last file went, if that is a folder of this machine still."""
        try:
            kept = Path(local(self._kept.text("export/folder", "")))
        except InputError:
            return None
        return kept if kept.is_absolute() and isdir(kept) else None

    def _add(self, view: View, path: Path, options: Options) -> None:
        def work(progress: Progress, cancel: Cancel) -> ExportResult:
            save(view, path, options, QtPainter(), progress, cancel)
            return ExportResult((path,))

        self.exports.add(Task(path.name, work))


def _suffixes(holds: Holds) -> tuple[str, ...]:
    return tuple(one.suffix for one in holding(holds))


def _first(suffix: str, suffixes: tuple[str, ...]) -> tuple[str, ...]:
    return suffix, *(other for other in suffixes if other != suffix)


def _open_folder(folder: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))
