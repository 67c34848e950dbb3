"""The form for a launch of a user's kernel: which one, grid and block, its arguments."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLineEdit,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from gpuviz.base.errors import InputError
from gpuviz.compile import HostLaunch, Program, entry_name
from gpuviz.launch.host_launch import proposed_by
from gpuviz.launch.settings import Settings
from gpuviz.launch.signature import short_name
from gpuviz.launch.texts import NONE, Kernel, LaunchTexts
from gpuviz.qt.controls.controls import Combo, answers, label
from gpuviz.qt.controls.tab_order import tab_as_laid_out
from gpuviz.qt.kernels.launch_fields import LaunchFields, specs
from gpuviz.qt.look.theme import Theme
from gpuviz.story.kernel_launch import FOLDER, KernelLaunch
from gpuviz.story.refitting import check_launch, fitted, made, written
from gpuviz.words.language import tr

GRID, BLOCK = (16, 1, 1), (256, 1, 1)


class KernelDialog(QDialog):
    """Accepts only a launch that can be made; says what is wrong with the others."""

    def __init__(
        self,
        path: Path,
        program: Program,
        launches: tuple[HostLaunch, ...],
        settings: Settings,
        theme: Theme,
        parent: QWidget,
    ) -> None:
        """Ask about a program of a file; `launches` are those that its host code writes, `settings`
        what is kept beside it.
        """
        super().__init__(parent)
        self._program = program
        self._kernel = NONE
        self._settings = settings
        folders = (f"{FOLDER}{folder}" for folder in settings.include)
        self._launch = KernelLaunch(
            path,
            "",
            "",
            GRID,
            BLOCK,
            (),
            0,
            tuple(settings.macros.items()),
            (*settings.options, *folders),
        )
        self.setWindowTitle(tr("Launch a kernel of {file}", file=path.name))
        self.setModal(True)
        self.entry = Combo(tr("Kernel"), theme)
        for mangled in program.kernels:
            self.entry.addItem(short_name(mangled), mangled)
        self._written = _of_these(launches, program.kernels)
        self.written = Combo(tr("Launch as the file writes it"), theme)
        for launch, _ in self._written:
            self.written.addItem(_words(launch))
        self.written.addItem(tr("another one"))
        self.written.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.fields = LaunchFields()
        self.grid, self.block, self.shared = (
            self.fields.grid,
            self.fields.block,
            self.fields.shared,
        )
        self.refusal = label("", "problem")
        self.refusal.setWordWrap(True)
        self.buttons = answers(self, tr("Show"))
        self._lay_out(theme)
        self.written.currentIndexChanged.connect(self._propose)
        self.entry.currentIndexChanged.connect(self._choose)
        for line in (self.grid, self.block):
            line.editingFinished.connect(self._guess_again)
        self.fields.changed.connect(self._check)
        self._choose()
        if settings.launches:
            with suppress(InputError):
                kept = entry_name(program.kernels, settings.kernel or next(iter(settings.launches)))
                self.entry.setCurrentIndex(self.entry.findData(kept))
            self.written.setCurrentIndex(len(self._written))
        else:
            self._propose()
        self._began = self.fields.texts

    @property
    def changed(self) -> bool:
        """Whether its user said something."""
        return self.fields.texts != self._began

    @property
    def arguments(self) -> list[QLineEdit]:
        """A line for each."""
        return [*self.fields.arguments]

    @property
    def why(self) -> str:
        """Why it makes no launch, "" where it does."""
        return _why_not(self.launch)

    def launch(self) -> KernelLaunch:
        """The launch as filled in.

        Raises
        ------
        InputError : something does not make a launch
        """
        made = self.fields.launch(self._launch)
        check_launch(made, self._program)
        return made

    def _lay_out(self, theme: Theme) -> None:
        form = QFormLayout()
        form.setHorizontalSpacing(14)
        if self._written:
            form.addRow(tr("launch in the file"), self.written)
        form.addRow(tr("kernel"), self.entry)
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 16, 18, 14)
        column.setSpacing(10)
        column.addLayout(form)
        self._scroll = QScrollArea()
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # its fields take the focus
        self._scroll.setWidget(self.fields)
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        column.addWidget(self._scroll, 1)
        hint = label(specs(), "quiet")
        hint.setWordWrap(True)
        hint.setMinimumHeight(hint.heightForWidth(theme.look.px(520) - 36))
        for widget in (hint, self.refusal, self.buttons):
            column.addWidget(widget)
        self._most = theme.look.px(560)
        self.setMinimumWidth(theme.look.px(520))

    def _propose(self, *_: object) -> None:
        """The launch as the file writes it: what is constant there; the rest stays as it is."""
        if self.written.currentIndex() >= len(self._written):
            return
        launch, entry = self._written[self.written.currentIndex()]
        self.entry.setCurrentIndex(self.entry.findData(entry))
        for line, text in zip((self.grid, self.block), launch.texts, strict=False):
            said = tr("in the file: {expression}", expression=text)
            line.setPlaceholderText(said)
            line.setToolTip(said)
        self._show(proposed_by(launch, self._kernel))

    def _choose(self, *_: object) -> None:
        """A line for each argument of the kernel, with what is kept of it, or a guess."""
        entry = str(self.entry.currentData())
        with suppress(InputError):
            self._launch = self.fields.launch(self._launch)
        before, self._kernel = self._kernel, Kernel.of(self._program, entry)
        self._launch = fitted(self._launch, entry, before, self._kernel)
        self._show(self._settings.launch_of(self._program.kernels, entry))
        tab_as_laid_out(self)

    def _show(self, texts: LaunchTexts) -> None:
        """Show a launch that is said so far, and else is what it was."""
        said = texts.over(written(self._launch, self._kernel))
        with suppress(InputError):
            self._launch = made(self._launch, self._kernel, said)
        self.fields.show_launch(self._launch, self._kernel)
        self._scroll.setMinimumHeight(min(self.fields.sizeHint().height(), self._most))
        self._check()

    def _guess_again(self) -> None:
        """Buffers as long as the launch is wide, where the user has not written something else."""
        with suppress(InputError):
            self._launch = self.fields.launch(self._launch)
            self.fields.show_launch(self._launch, self._kernel)
            self._check()

    def _check(self, *_: object) -> None:
        problem = self.why
        self.refusal.setText("" if self.fields.problem or not problem else f"▲ {problem}")
        self.refusal.setVisible(bool(self.refusal.text()))
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(not problem)


def _of_these(
    launches: tuple[HostLaunch, ...], kernels: tuple[str, ...]
) -> tuple[tuple[HostLaunch, str], ...]:
    """The launches of kernels that there are, with these; each once."""
    found: dict[tuple[object, ...], tuple[HostLaunch, str]] = {}
    for launch in launches:
        with suppress(InputError):
            entry = entry_name(kernels, launch.instance or launch.kernel)
            found.setdefault((entry, launch.texts, launch.values), (launch, entry))
    return tuple(found.values())


def _words(launch: HostLaunch) -> str:
    sizes = (
        "×".join(map(str, known)) if known else text
        for known, text in zip((launch.grid, launch.block), launch.texts, strict=False)
    )
    shape = ", ".join(sizes)
    return f"{launch.file}:{launch.line}  {launch.instance or launch.kernel} <<<{shape}>>>"


def _why_not(make: Callable[[], object]) -> str:
    try:
        make()
    except InputError as error:
        return str(error)
    return ""
