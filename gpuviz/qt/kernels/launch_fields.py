"""The fields of a launch of a user's own kernel, each with why it makes none."""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QGridLayout, QLineEdit, QWidget

from gpuviz.arguments import DTYPES, FILLS
from gpuviz.base.errors import InputError
from gpuviz.compile import compiler
from gpuviz.launch.signature import KernelParameter
from gpuviz.launch.texts import NONE, Kernel, LaunchReader, LaunchTexts
from gpuviz.qt.controls.controls import (
    Combo,
    button,
    keep_arrows,
    keep_space,
    label,
    set_look,
    show_words,
)
from gpuviz.qt.controls.layouts import column_of, row_of
from gpuviz.qt.look.theme import Theme
from gpuviz.story.kernel_launch import FOLDER, KernelLaunch, macros_of, macros_text, words_of
from gpuviz.story.refitting import made, written
from gpuviz.words.language import tr


class Field(QLineEdit):
    """A line that is read as something; what is wrong with it stands below, in `problem`."""

    def __init__(
        self, name: str, read: Callable[[str], object], tip: str = "", example: str = ""
    ) -> None:
        super().__init__()
        self.setPlaceholderText(example)
        self._read = read
        self.path = ""  # what an argument is called: `p.n`
        self.proposed = ""  # what stands there where its user says nothing
        self.name = label(name)
        self._plain = name
        self.problem = label("", "problem", wraps=True)
        self.problem.hide()
        self.setAccessibleName(name)
        for widget in (self, self.name):
            widget.setToolTip(tip)
        self.textChanged.connect(lambda text: self.check())

    def check(self) -> bool:
        """Whether it can be read; says why not, and whether it is only a proposal."""
        guess = bool(self.proposed) and self.text() == self.proposed
        self.name.setText(tr("{name} · proposed", name=self._plain) if guess else self._plain)
        try:
            self._read(self.text())
        except InputError as error:
            self.say(str(error))
            return False
        self.say("")
        return True

    def say(self, problem: str) -> None:
        """Mark the line, or no longer."""
        show_words(self.problem, problem, "▲ ")
        self.setAccessibleDescription(problem)
        if problem or self.property("bad"):
            set_look(self, "bad", bool(problem))

    def show_text(self, text: str) -> None:
        """Show a text without announcing it, unless what stands there means the same."""
        if not self.text() or self._meaning(self.text()) != self._meaning(text):
            with QSignalBlocker(self):
                self.setText(text)
        self.check()

    def _meaning(self, text: str) -> object:
        try:
            return self._read(text)
        except InputError:
            return text


class LaunchFields(QWidget):
    """Grid, block, shared memory, arguments, variables, macros and options, as they are typed."""

    changed = Signal()  # something was typed, be it nonsense

    def __init__(self) -> None:
        super().__init__()
        self._kernel, self._base = NONE, Path()
        size = tr("One to three numbers: 16 or 16,16; or ceil(n / block.x)")
        self.grid = Field(tr("grid x, y, z"), lambda text: self._reading(grid=text).grid, size)
        self.block = Field(tr("block x, y, z"), lambda text: self._reading(block=text).block, size)
        self.shared = Field(
            tr("dynamic shared bytes"), lambda text: self._reading(shared=text).shared
        )
        self.sizes = Field(
            tr("sizes"),
            names_of,
            tr("Names that grid, block and arguments may use: n=4096 m=n/2"),
            "n=4096 m=n/2",
        )
        self.macros = Field(tr("macros"), macros_of, tr("NAME=VALUE, as in N=4 DEBUG"), "N=4 DEBUG")
        self.options = Field(
            tr("compiler options"),
            options_of,
            tr("As in -use_fast_math -std=c++20 -maxrregcount=32 -I../include"),
            "-use_fast_math",
        )
        self.arguments: list[Field] = []
        self.data: list[Field] = []
        above, below = _grid((self.grid, self.block, self.shared)), _grid(())
        _add(below, (self.sizes, self.macros, self.options))
        self._rows = QWidget()
        self._column = column_of(above, self._rows, below, on=self, gap=6)
        for field in (self.grid, self.block, self.shared, self.sizes, self.macros, self.options):
            field.textChanged.connect(lambda text: self.changed.emit())

    @property
    def fields(self) -> tuple[Field, ...]:
        """All of them, from top to bottom."""
        sizes = self.grid, self.block, self.shared
        return (*sizes, *self.arguments, *self.data, self.sizes, self.macros, self.options)

    @property
    def problem(self) -> str:
        """The first thing that is wrong, "" when nothing is."""
        for one in self.fields:
            one.check()
        return next((p for one in self.fields if (p := one.accessibleDescription())), "")

    @property
    def texts(self) -> LaunchTexts:
        """What is written; arguments as they were proposed are not."""
        return LaunchTexts(
            self.grid.text(),
            self.block.text(),
            self.shared.text(),
            {one.path: one.text() for one in self.arguments if one.text() != one.proposed},
            {one.path: one.text() for one in self.data if one.text().strip()},
            _names(self.sizes.text()),
        )

    def show_launch(self, launch: KernelLaunch, kernel: Kernel) -> None:
        """Show a launch of a kernel."""
        self._ask_for(kernel, launch.path.parent)
        try:
            texts = written(launch, kernel)
            proposed = kernel.reading(texts, launch.path.parent).proposed
        except InputError:
            texts, proposed = launch.said, {}
        for line in self.arguments:
            line.proposed = proposed.get(line.path, "")
        sizes = " ".join(f"{name}={text}" for name, text in texts.sizes.items())
        shown = (
            (self.sizes, sizes),
            (self.grid, _trimmed(texts.grid)),
            (self.block, _trimmed(texts.block)),
            (self.shared, texts.shared or "0"),
            (self.macros, macros_text(launch.defines)),
            (self.options, shlex.join(launch.options)),
            *((one, texts.arguments.get(one.path, one.proposed)) for one in self.arguments),
            *((one, texts.data.get(one.path, "")) for one in self.data),
        )
        for field, text in shown:
            field.show_text(text)
        for field in self.fields:
            field.check()
        wide = max(field.name.sizeHint().width() for field in self.fields)
        for field in self.fields:  # the lines below each other
            field.name.setMinimumWidth(wide)

    def launch(self, base: KernelLaunch) -> KernelLaunch:
        """The launch as typed, of the kernel of `base`; InputError when it is none."""
        if problem := self.problem:
            raise InputError(problem)
        built = replace(
            base, defines=macros_of(self.macros.text()), options=options_of(self.options.text())
        )
        if self._kernel.known:
            return made(built, self._kernel, self.texts)
        sizes = self._reading()
        return replace(
            built,
            grid=sizes.grid,
            block=sizes.block,
            dynamic_shared=sizes.shared,
            said=LaunchTexts(),
        )

    def _reading(self, **changes: str) -> LaunchReader:
        return self._kernel.reading(replace(self.texts, **changes), self._base)  # type: ignore[arg-type]

    def _read(self, leaf: KernelParameter, text: str) -> object:
        """An argument, or a field of one, with what the others are."""
        texts = self.texts
        if leaf.name in {one.path for one in self.arguments}:
            texts = replace(texts, arguments={**texts.arguments, leaf.name: text})
        elif text.strip():
            texts = replace(texts, data={**texts.data, leaf.name: text})
        else:
            return None  # as the source has it
        return self._kernel.reading(texts, self._base).leaf(leaf)

    def _ask_for(self, kernel: Kernel, base: Path) -> None:
        """A line for each argument and variable; they stay while the kernel takes the same."""
        same = (kernel.taken, kernel.data) == (self._kernel.taken, self._kernel.data)
        self._kernel, self._base = kernel, base
        if same:
            return
        old, self._rows = self._rows, QWidget()
        self._column.replaceWidget(old, self._rows)
        old.hide()
        old.deleteLater()
        self.arguments = [self._line(leaf, specs()) for leaf in kernel.leaves]
        self.data = [
            self._line(leaf, tr("As the source has it, or: {how}", how=specs()), one.initial)
            for one in kernel.data
            for leaf in one.taken.leaves
        ]
        rows = _grid((*self.arguments, *self.data))
        rows.setContentsMargins(0, 0, 0, 0)
        self._rows.setLayout(rows)
        self._rows.setVisible(bool(self.arguments or self.data))
        before: QWidget = self.shared
        for line in (*self.arguments, *self.data):
            line.textChanged.connect(lambda text: self.changed.emit())
            QWidget.setTabOrder(before, line)
            before = line
        QWidget.setTabOrder(before, self.sizes)

    def _line(self, leaf: KernelParameter, tip: str, example: str = "") -> Field:
        line = Field(leaf.name, lambda text: self._read(leaf, text), tip, example)
        line.path = leaf.name
        return line


def specs() -> str:
    """How arguments are written."""
    return tr(
        "7, n, n*m for a number; rand(n), {fills}(n), [1, 2, 3], @file.npy, @photo.png for a "
        "buffer; a + 3 into another one; f32[n]=rand with the type said.\nTypes: {types}.",
        fills="|".join(FILLS[:3]),
        types=" ".join(DTYPES),
    )


def names_of(text: str) -> dict[str, str]:
    """The sizes of `n=4096 m=n/2`; InputError when one has no name or value."""
    found = {}
    for word in text.split():
        name, sign, value = word.partition("=")
        if not name.isidentifier() or not value:
            raise InputError(
                tr("{word!r} is no size: write NAME=VALUE without spaces, as in n=4096", word=word)
            )
        found[name] = value
    return found


def _names(text: str) -> dict[str, str]:
    try:
        return names_of(text)
    except InputError:
        return {}


def _trimmed(sizes: str) -> str:
    """Sizes as they are typed, without trailing ones."""
    while sizes.endswith(",1"):
        sizes = sizes[:-2]
    return sizes


def options_of(text: str) -> tuple[str, ...]:
    """Options of the compiler and folders of headers; InputError for others."""
    given = words_of(text)
    compiler.chosen(one for one in given if not one.startswith(FOLDER))
    return given


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


class LaunchPanel(QWidget):
    """The fields, and why what stands in them cannot be run."""

    others_asked = Signal()  # the user wants another kernel or launch of the file
    keep_asked = Signal()  # the user wants the settings kept beside the file
    chosen = Signal(int)  # a launch that the file writes, by its place among those offered

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setAccessibleName(tr("Launch"))
        self.fields = LaunchFields()
        self.problem = label("", "problem", wraps=True)
        self.problem.hide()
        others = tr("Another kernel or launch of this file")
        self.others = button(tr("another …"), others, "link", others)
        self.others.clicked.connect(self.others_asked)
        tip = tr(
            "Keep these settings beside the file, in NAME.gpuviz.toml: gpuviz reads them when the "
            "file is opened again, and changes are kept there from then on."
        )
        self.keep = button(tr("keep"), tr("Keep these settings beside the file"), "link", tip)
        self.keep.clicked.connect(self.keep_asked)
        for chip in (self.keep, self.others):
            keep_space(chip)
        head = row_of(label(tr("Launch"), "heading"), 1, self.keep, self.others)
        self.written = Combo(tr("Launch as the file writes it"), theme)
        self.written.setSizeAdjustPolicy(
            Combo.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.written.setPlaceholderText(tr("as the fields say"))
        self.written.setToolTip(tr("The launches that the host code of this file writes"))
        keep_space(self.written)
        keep_arrows(self.written)
        self.written.hide()
        self.written.activated.connect(self.chosen)
        column_of(head, self.written, self.fields, self.problem, on=self, gap=6)

    def offer(
        self, launches: Sequence[str], refused: Sequence[tuple[str, str]], shown: int
    ) -> None:
        """The launches of the file in words, where there are any, and those that cannot be made,
        each with what helps; `shown` is below 0 where the fields say another one.
        """
        with QSignalBlocker(self.written):
            self.written.clear()
            self.written.add((words, None) for words in launches)
            for words, remedy in refused:
                self.written.add_refused(words, remedy)
            self.written.setCurrentIndex(shown)
        self.written.setVisible(bool(launches or refused))

    def say(self, problem: str) -> None:
        """Say why it cannot be run, where no field does so."""
        show_words(self.problem, "" if self.fields.problem else problem, "▲ ")
