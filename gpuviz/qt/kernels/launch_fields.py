"""The fields of a launch of a user's own kernel, each with why it makes none."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QGridLayout, QLineEdit, QVBoxLayout, QWidget

from gpuviz.arguments import FILLS, parse
from gpuviz.compile import flags
from gpuviz.errors import InputError
from gpuviz.kernels.signature import Taken
from gpuviz.language import tr
from gpuviz.qt.controls.controls import label, restyle
from gpuviz.runners.job import Triple, triple
from gpuviz.scenes.kernel_launch import FOLDER, KernelLaunch, macros_of, macros_text, words_of

_TYPES = "i8 u8 i16 u16 i32 u32 i64 u64 f16 f32 f64"


class Field(QLineEdit):
    """A line that is read as something; what is wrong with it stands below, in `problem`."""

    def __init__(
        self, name: str, read: Callable[[str], object], tip: str = "", example: str = ""
    ) -> None:
        super().__init__()
        self.setPlaceholderText(example)
        self._read = read
        self.name = label(name)
        self.problem = label("", "problem")
        self.problem.setWordWrap(True)
        self.problem.hide()
        self.setAccessibleName(name)
        for widget in (self, self.name):
            widget.setToolTip(tip)
        self.textChanged.connect(lambda text: self.check())

    def check(self) -> bool:
        """Whether it can be read; says why not."""
        try:
            self._read(self.text())
        except InputError as error:
            self.say(str(error))
            return False
        self.say("")
        return True

    def say(self, problem: str) -> None:
        """Mark the line, or no longer."""
        self.problem.setText(f"▲ {problem}" if problem else "")
        self.problem.setVisible(bool(problem))
        self.setAccessibleDescription(problem)
        if bool(self.property("bad")) != bool(problem):
            self.setProperty("bad", bool(problem))
            restyle(self)

    def show_text(self, text: str) -> None:
        """Show a text without announcing it, unless what stands there means the same."""
        if self._meaning(self.text()) != self._meaning(text):
            with QSignalBlocker(self):
                self.setText(text)
        self.check()

    def _meaning(self, text: str) -> object:
        try:
            return self._read(text)
        except InputError:
            return text


class LaunchFields(QWidget):
    """Grid, block, shared memory, arguments, macros and options, as they are typed.

    Signals
    -------
    changed : something was typed, be it nonsense
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        size = tr("One to three numbers: 16 or 16,16")
        self.grid = Field(tr("grid x, y, z"), lambda text: sizes_of(text, "grid"), size)
        self.block = Field(tr("block x, y, z"), lambda text: sizes_of(text, "block"), size)
        self.shared = Field(tr("dynamic shared bytes"), _bytes)
        self.macros = Field(tr("macros"), macros_of, tr("NAME=VALUE, as in N=4 DEBUG"), "N=4 DEBUG")
        self.options = Field(
            tr("compiler options"),
            options_of,
            tr("As in -use_fast_math -std=c++20 -maxrregcount=32 -I../include"),
            "-use_fast_math",
        )
        self.arguments: list[Field] = []
        self._taken: tuple[Taken, ...] = ()
        above, below = _grid((self.grid, self.block, self.shared)), _grid(())
        _add(below, (self.macros, self.options))
        self._rows = QWidget()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(6)
        self._column.addLayout(above)
        self._column.addWidget(self._rows)
        self._column.addLayout(below)
        for field in (self.grid, self.block, self.shared, self.macros, self.options):
            field.textChanged.connect(lambda text: self.changed.emit())

    @property
    def fields(self) -> tuple[Field, ...]:
        """All of them, from top to bottom."""
        sizes = self.grid, self.block, self.shared
        return (*sizes, *self.arguments, self.macros, self.options)

    @property
    def problem(self) -> str:
        """The first thing that is wrong, "" when nothing is."""
        return next((one.accessibleDescription() for one in self.fields if not one.check()), "")

    def show_launch(self, launch: KernelLaunch, taken: Sequence[Taken]) -> None:
        """Show a launch of a kernel that takes these."""
        self._ask_for(tuple(taken), launch)
        shown = (
            (self.grid, sizes_text(launch.grid)),
            (self.block, sizes_text(launch.block)),
            (self.shared, str(launch.dynamic_shared)),
            (self.macros, macros_text(launch.defines)),
            (self.options, shlex.join(launch.options)),
            *zip(self.arguments, launch.arguments, strict=False),
        )
        for field, text in shown:
            field.show_text(text)
        wide = max(field.name.sizeHint().width() for field in self.fields)
        for field in self.fields:  # the lines below each other
            field.name.setMinimumWidth(wide)

    def launch(self, base: KernelLaunch) -> KernelLaunch:
        """The launch as typed, of the kernel of `base`; InputError when it is none."""
        if problem := self.problem:
            raise InputError(problem)
        return replace(
            base,
            grid=sizes_of(self.grid.text(), "grid"),
            block=sizes_of(self.block.text(), "block"),
            dynamic_shared=_bytes(self.shared.text()),
            arguments=tuple(line.text().strip() for line in self.arguments),
            defines=macros_of(self.macros.text()),
            options=options_of(self.options.text()),
        )

    def _ask_for(self, taken: tuple[Taken, ...], launch: KernelLaunch) -> None:
        """A line for each argument; they stay while the kernel takes the same."""
        names = [one.name for one in taken]
        names += [tr("argument {n}", n=n + 1) for n in range(len(names), len(launch.arguments))]
        if [line.accessibleName() for line in self.arguments] == names:
            return
        old, self._rows = self._rows, QWidget()
        self._column.replaceWidget(old, self._rows)
        old.hide()
        old.deleteLater()
        self.arguments = [Field(name, parse, specs()) for name in names]
        rows = _grid(self.arguments)
        rows.setContentsMargins(0, 0, 0, 0)
        self._rows.setLayout(rows)
        self._rows.setVisible(bool(names))
        before: QWidget = self.shared
        for line in self.arguments:
            line.textChanged.connect(lambda text: self.changed.emit())
            QWidget.setTabOrder(before, line)
            before = line
        QWidget.setTabOrder(before, self.macros)


def specs() -> str:
    """How arguments are written."""
    return tr(
        "TYPE[COUNT]={fills}|VALUE|@file.npy for a buffer, TYPE=VALUE for a scalar.\n"
        "Types: {types}.",
        fills="|".join(FILLS),
        types=_TYPES,
    )


def sizes_of(text: str, what: str) -> Triple:
    """`16,16` as three sizes; InputError when it is something else."""
    parts = text.replace("×", ",").replace("x", ",").split(",")
    if not all(part.strip().isdecimal() for part in parts):
        raise InputError(
            tr(
                "{what} {given!r}: write one to three numbers, as in 16 or 16,16",
                what=what,
                given=text,
            )
        )
    return triple(tuple(int(part) for part in parts), what)


def sizes_text(sizes: Triple) -> str:
    """Sizes as they are typed, without trailing ones."""
    kept = list(sizes)
    while len(kept) > 1 and kept[-1] == 1:
        kept.pop()
    return ",".join(map(str, kept))


def options_of(text: str) -> tuple[str, ...]:
    """Options of the compiler and folders of headers; InputError for others."""
    given = words_of(text)
    flags.chosen(one for one in given if not one.startswith(FOLDER))
    return given


def _bytes(text: str) -> int:
    if not text.strip().isdecimal():
        raise InputError(tr("{given!r} is no number of bytes", given=text))
    return int(text)


def _grid(fields: Sequence[Field]) -> QGridLayout:
    made = QGridLayout()
    made.setHorizontalSpacing(10)
    made.setVerticalSpacing(3)
    made.setColumnStretch(1, 1)
    _add(made, fields)
    return made


def _add(grid: QGridLayout, fields: Sequence[Field]) -> None:
    """Two rows for each: the line, and what is wrong with it."""
    for number, field in enumerate(fields):
        grid.addWidget(field.name, 2 * number, 0)
        grid.addWidget(field, 2 * number, 1)
        grid.addWidget(field.problem, 2 * number + 1, 0, 1, 2)
