"""The form for a launch of a user's kernel: which one, grid and block, its arguments."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from gpuviz.compile import Program, Written, entry_name
from gpuviz.errors import InputError
from gpuviz.kernels.signature import Taken, short_name, taken_by
from gpuviz.language import tr
from gpuviz.qt.controls.controls import Combo, answers, label
from gpuviz.qt.controls.tab_order import tab_as_laid_out
from gpuviz.qt.kernels.launch_fields import LaunchFields, sizes_text, specs
from gpuviz.qt.look.theme import Theme
from gpuviz.scenes.kernel_launch import KernelLaunch
from gpuviz.scenes.refitting import check_launch, fitted, resized

GRID, BLOCK = (16, 1, 1), (256, 1, 1)


class KernelDialog(QDialog):
    """Accepts only a launch that can be made; says what is wrong with the others."""

    def __init__(
        self,
        path: Path,
        program: Program,
        launches: tuple[Written, ...],
        theme: Theme,
        parent: QWidget,
    ) -> None:
        """Ask about a program of a file; `launches` are those that its host code writes."""
        super().__init__(parent)
        self._program = program
        self._taken: tuple[Taken, ...] = ()
        self._launch = KernelLaunch(path, "", "", GRID, BLOCK, ())
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
        self._propose()

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
        column.addWidget(self.fields)
        hint = label(specs(), "quiet")
        hint.setWordWrap(True)
        for widget in (hint, self.refusal, self.buttons):
            column.addWidget(widget)
        column.addStretch(1)
        self.setMinimumWidth(theme.look.px(520))

    def _propose(self, *_: object) -> None:
        """The launch as the file writes it: what is constant there; the rest stays as it is."""
        if self.written.currentIndex() >= len(self._written):
            return
        launch, entry = self._written[self.written.currentIndex()]
        self.entry.setCurrentIndex(self.entry.findData(entry))
        for line, sizes, text in zip(
            (self.grid, self.block), (launch.grid, launch.block), launch.texts, strict=False
        ):
            said = tr("in the file: {expression}", expression=text)
            line.setPlaceholderText(said)
            line.setToolTip(said)
            line.setText(sizes_text(sizes) if sizes else line.text())
        self.shared.setText(str(launch.shared or 0))
        self._guess_again()
        for given, taken, value in zip(self.arguments, self._taken, launch.values, strict=False):
            if not taken.buffer and isinstance(value, int | float):
                given.setText(
                    f"{taken.kind}={value:g}"
                    if taken.kind[0] == "f"
                    else f"{taken.kind}={int(value)}"
                )

    def _choose(self, *_: object) -> None:
        """A line for each argument of the kernel, with a guess in it."""
        entry = str(self.entry.currentData())
        with suppress(InputError):
            self._launch = self.fields.launch(self._launch)
        self._taken = taken_by(self._program, entry)
        self._launch = fitted(self._launch, entry, (), self._taken)
        self.fields.show_launch(self._launch, self._taken)
        tab_as_laid_out(self)
        self._check()

    def _guess_again(self) -> None:
        """Buffers as long as the launch is wide, where the user has not written something else."""
        with suppress(InputError):
            before, self._launch = self._launch, self.fields.launch(self._launch)
            self._launch = resized(self._launch, before, self._taken)
            self.fields.show_launch(self._launch, self._taken)
            self._check()

    def _check(self, *_: object) -> None:
        problem = self.why
        self.refusal.setText("" if self.fields.problem or not problem else f"▲ {problem}")
        self.refusal.setVisible(bool(self.refusal.text()))
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(not problem)


def _of_these(
    launches: tuple[Written, ...], kernels: tuple[str, ...]
) -> tuple[tuple[Written, str], ...]:
    """The launches of kernels that there are, with these; each once."""
    found: dict[tuple[object, ...], tuple[Written, str]] = {}
    for launch in launches:
        with suppress(InputError):
            entry = entry_name(kernels, launch.instance or launch.kernel)
            found.setdefault((entry, launch.texts, launch.values), (launch, entry))
    return tuple(found.values())


def _words(launch: Written) -> str:
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
