"""The form for a launch of a user's kernel: which one, grid and block, its arguments."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLineEdit, QScrollArea, QWidget

from gpuviz.base.errors import InputError
from gpuviz.compile import HostLaunch, Program, entry_name
from gpuviz.launch.host_launch import guessed_by, proposed_by, words
from gpuviz.launch.settings import Settings
from gpuviz.launch.signature import short_name
from gpuviz.launch.texts import NONE, Kernel, LaunchTexts
from gpuviz.launch.unresolved import resolved, unresolved
from gpuviz.qt.controls.controls import Combo, answers, label, show_words
from gpuviz.qt.controls.layouts import DIALOG, column_of, form_of, tab_as_laid_out
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
        self._program, self._kernel, self._settings = program, NONE, settings
        folders = (f"{FOLDER}{folder}" for folder in settings.include)
        how = tuple(settings.macros.items()), (*settings.options, *folders)
        self._launch = KernelLaunch(path, "", "", GRID, BLOCK, (), 0, *how)
        self.setWindowTitle(tr("Launch a kernel of {file}", file=path.name))
        self.setModal(True)
        kernels = ((short_name(mangled), mangled) for mangled in program.kernels)
        self.entry = Combo(tr("Kernel"), theme, kernels)
        self._written = resolved(launches, program.kernels)
        written = ((words(launch, path.name), None) for launch, _ in self._written)
        self.written = Combo(tr("Launch as the file writes it"), theme, written)
        self.written.addItem(tr("another one"))
        for one in unresolved(program, launches):
            if not one.sole:  # a kernel that is there is offered, and its launch proposed
                self.written.add_refused(one.words, one.remedy)
        self.written.setSizeAdjustPolicy(
            Combo.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.fields = LaunchFields()
        self.grid, self.block = self.fields.grid, self.fields.block
        self.shared = self.fields.shared
        self.refusal = label("", "problem", wraps=True)
        self.buttons = answers(self, tr("Show"))
        self._lay_out(theme)
        self.written.currentIndexChanged.connect(self._propose)
        self.entry.currentIndexChanged.connect(self._choose)
        for field in (self.grid, self.block):
            field.editingFinished.connect(self._guess_again)
        self.fields.changed.connect(self._check)
        self._choose()
        self._begin()
        self._began = self.fields.texts

    def _begin(self) -> None:
        """With what is kept beside the file; else as its host code writes it."""
        kept = self._settings
        if not kept.launches:
            sized = (number for number, (one, _) in enumerate(self._written) if all(one.sizes))
            self.written.setCurrentIndex(next(sized, 0))
            self._propose()
            return
        with suppress(InputError):
            name = kept.kernel or next(iter(kept.launches))
            self.entry.choose(entry_name(self._program.kernels, name))
        self.written.setCurrentIndex(len(self._written))

    @property
    def answered(self) -> bool:
        """Whether what is beside the file, or its host code, says the launch that stands here."""
        number = self.written.currentIndex()
        here = self._written[number : number + 1]
        return not self.why and (
            bool(self._settings.launches) or any(all(h.sizes) for h, _ in here)
        )

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
        written = [(tr("launch in the file"), self.written)] if self.written.count() > 1 else []
        self._scroll = QScrollArea()
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # its fields take the focus
        self._scroll.setWidget(self.fields)
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        hint = label(specs(), "quiet", wraps=True)
        hint.setMinimumHeight(hint.heightForWidth(theme.look.px(520) - 36))
        which = form_of((*written, (tr("kernel"), self.entry)))
        parts = which, (self._scroll, 1), hint, self.refusal, self.buttons
        column_of(*parts, on=self, gap=10, margins=DIALOG)
        self._most = theme.look.px(560)
        self.setMinimumWidth(theme.look.px(520))

    def _propose(self) -> None:
        """The launch as the file writes it: what is constant there; the rest stays as it is."""
        if self.written.currentIndex() >= len(self._written):
            return
        launch, entry = self._written[self.written.currentIndex()]
        self.entry.choose(entry)
        for line, text in zip((self.grid, self.block), launch.texts, strict=False):
            said = tr("in the file: {expression}", expression=text)
            line.setPlaceholderText(said)
            line.setToolTip(said)
        stated = proposed_by(launch, self._kernel)
        self._show(stated.over(guessed_by(launch, self._kernel)))

    def _choose(self) -> None:
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

    def _check(self) -> None:
        problem = self.why
        show_words(self.refusal, "" if self.fields.problem else problem, "▲ ")
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(not problem)


def _why_not(make: Callable[[], object]) -> str:
    try:
        make()
    except InputError as error:
        return str(error)
    return ""
