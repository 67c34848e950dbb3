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
    QGridLayout,
    QLineEdit,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from gpuviz.arch import architecture
from gpuviz.arguments import FILLS, parse
from gpuviz.compile import Program, Written, entry_name
from gpuviz.errors import InputError
from gpuviz.language import tr
from gpuviz.qt.controls.controls import Combo, answers, label
from gpuviz.qt.controls.tab_order import tab_as_laid_out
from gpuviz.qt.look.theme import Theme
from gpuviz.runners.job import Job, Triple, check_limits, triple
from gpuviz.scenes.kernel_launch import KernelLaunch
from gpuviz.scenes.signature import Taken, guess, short_name, taken_by

GRID, BLOCK = "16", "256"
_TYPES = "i8 u8 i16 u16 i32 u32 i64 u64 f16 f32 f64"


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
        self._path, self._program = path, program
        self._taken: tuple[Taken, ...] = ()
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
        self.grid, self.block = _sizes(tr("Grid"), GRID), _sizes(tr("Block"), BLOCK)
        self.shared = QSpinBox()
        self.shared.setRange(0, 1 << 20)
        self.shared.setButtonSymbols(QSpinBox.ButtonSymbols.NoButtons)
        self.shared.setAccessibleName(tr("Dynamic shared memory in bytes"))
        self.arguments: list[QLineEdit] = []
        self.problem = label("", "problem")
        self.problem.setWordWrap(True)
        self.buttons = answers(self, tr("Show"))
        self._lay_out(theme)
        self.written.currentIndexChanged.connect(self._propose)
        self.entry.currentIndexChanged.connect(self._choose)
        for line in (self.grid, self.block):
            line.editingFinished.connect(self._guess_again)
            line.textChanged.connect(self._check)
        self.shared.valueChanged.connect(self._check)
        self._choose()
        self._propose()

    def launch(self) -> KernelLaunch:
        """The launch as filled in.

        Raises
        ------
        InputError : something does not make a launch
        """
        specs = tuple(line.text().strip() for line in self.arguments)
        made = KernelLaunch(
            self._path,
            self._entry(),
            short_name(self._entry()),
            _triple(self.grid, "grid"),
            _triple(self.block, "block"),
            specs,
            self.shared.value(),
        )
        job = Job(
            self._program,
            made.entry,
            made.grid,
            made.block,
            tuple(map(parse, specs)),
            made.dynamic_shared,
        )
        check_limits(job, architecture(self._program.arch))
        return made

    def _entry(self) -> str:
        return str(self.entry.currentData())

    def _lay_out(self, theme: Theme) -> None:
        form = QFormLayout()
        form.setHorizontalSpacing(14)
        if self._written:
            form.addRow(tr("launch in the file"), self.written)
        form.addRow(tr("kernel"), self.entry)
        form.addRow(tr("grid x, y, z"), self.grid)
        form.addRow(tr("block x, y, z"), self.block)
        form.addRow(tr("dynamic shared bytes"), self.shared)
        self._rows = QWidget()
        column = self._column = QVBoxLayout(self)
        column.setContentsMargins(18, 16, 18, 14)
        column.setSpacing(10)
        column.addLayout(form)
        column.addWidget(label(tr("Arguments"), "heading"))
        column.addWidget(self._rows)
        hint = label(_specs(), "quiet")
        hint.setWordWrap(True)
        for widget in (hint, self.problem, self.buttons):
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
            line.setText(",".join(map(str, sizes)) if sizes else line.text())
        self.shared.setValue(launch.shared or 0)
        self._guess_again()
        for line, taken, value in zip(self.arguments, self._taken, launch.values, strict=False):
            if not taken.buffer and isinstance(value, int | float):
                line.setText(
                    f"{taken.kind}={value:g}"
                    if taken.kind[0] == "f"
                    else f"{taken.kind}={int(value)}"
                )

    def _choose(self, *_: object) -> None:
        """A line for each argument of the kernel, with a guess in it."""
        self._taken = taken_by(self._program, self._entry())
        old, self._rows = self._rows, QWidget()
        self._column.replaceWidget(old, self._rows)
        old.deleteLater()
        rows = QGridLayout(self._rows)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setHorizontalSpacing(14)
        self.arguments = []
        for number, taken in enumerate(self._taken):
            line = QLineEdit(guess(taken, self._threads()))
            line.setAccessibleName(taken.name)
            line.setToolTip(_specs())
            line.textChanged.connect(self._check)
            rows.addWidget(label(taken.name), number, 0)
            rows.addWidget(line, number, 1)
            self.arguments.append(line)
        if not self._taken:
            rows.addWidget(label(tr("none"), "quiet"), 0, 0)
        tab_as_laid_out(self)
        self._check()

    def _guess_again(self) -> None:
        """Buffers as long as the launch is wide, where the user has not written something else."""
        for line, taken in zip(self.arguments, self._taken, strict=True):
            if not line.isModified():
                line.setText(guess(taken, self._threads()))

    def _threads(self) -> int:
        """Threads of the launch; those of the first guess while it is none."""
        try:
            grid, block = _triple(self.grid, "grid"), _triple(self.block, "block")
        except InputError:
            return int(GRID) * int(BLOCK)
        return grid[0] * grid[1] * grid[2] * block[0] * block[1] * block[2]

    def _check(self, *_: object) -> None:
        problem = _why_not(self.launch)
        self.problem.setText(f"▲ {problem}" if problem else "")
        self.problem.setVisible(bool(problem))
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


def _specs() -> str:
    """How arguments are written."""
    return tr(
        "TYPE[COUNT]={fills}|VALUE|@file.npy for a buffer, TYPE=VALUE for a scalar.\n"
        "Types: {types}.",
        fills="|".join(FILLS),
        types=_TYPES,
    )


def _why_not(make: Callable[[], object]) -> str:
    try:
        make()
    except InputError as error:
        return str(error)
    return ""


def _sizes(name: str, text: str) -> QLineEdit:
    made = QLineEdit(text)
    made.setAccessibleName(name)
    made.setToolTip(tr("One to three numbers: 16 or 16,16"))
    return made


def _triple(line: QLineEdit, what: str) -> Triple:
    """`16,16` as three sizes; InputError when it is something else."""
    parts = line.text().replace("×", ",").replace("x", ",").split(",")
    if not all(part.strip().isdecimal() for part in parts):
        raise InputError(
            tr(
                "{what} {given!r}: write one to three numbers, as in 16 or 16,16",
                what=what,
                given=line.text(),
            )
        )
    return triple(tuple(int(part) for part in parts), what)
