"""The code of the run being told, the current line lit; and where its blocks ran."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QTabBar, QVBoxLayout, QWidget

from gpuviz.language import later, tr
from gpuviz.qt.code.code_view import CodeView
from gpuviz.qt.controls.controls import Combo, Elided, keep_arrows, keep_space
from gpuviz.qt.controls.tab_order import tab_after

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpuviz.panels.script import Step
    from gpuviz.qt.look.theme import Theme
    from gpuviz.qt.playing.player import Player
    from gpuviz.qt.timing.placement_view import PlacementView
    from gpuviz.results.code_text import Code
    from gpuviz.runners.base import Run
    from gpuviz.scenes.showing import Showing

# Name and language of each tab; one more line here, and in `_codes`, is one more tab.
TABS = ((later("source"), "cuda"), ("PTX", "ptx"), ("SASS", "sass"))
SASS = 2


class Source(QWidget):
    """Tabs of code; with several runs, the one whose turn it is."""

    def __init__(self, player: Player, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._player = player
        self._runs: Mapping[str, Run] = {}
        self._codes: list[Code] = []
        self._role = ""
        self._step: Step | None = None
        self.setAccessibleName(tr("Source"))
        self.tabs = QTabBar()
        self.tabs.setAccessibleName(tr("Code tabs"))
        self.tabs.setExpanding(False)
        self.stack = QStackedWidget()
        self.views = [CodeView(tr(tab[0]), tab[1], theme) for tab in TABS]
        for view in self.views:
            self.tabs.addTab(view.accessibleName())
            self.stack.addWidget(view)
            view.chosen.connect(self._choose)
        self.tabs.addTab(tr("SMs"))
        self.tabs.setTabToolTip(len(TABS), tr("Which multiprocessor ran which block, and when"))
        self.tabs.currentChanged.connect(self._turn)
        self.kernel = Elided("quiet")
        self.remark = Elided("remark")
        self.remark.hide()
        self.roles = Combo(tr("Run whose code is shown"), theme)
        self.roles.setSizeAdjustPolicy(Combo.SizeAdjustPolicy.AdjustToContents)
        self.roles.currentIndexChanged.connect(lambda i: self._show_role(self.roles.itemData(i)))
        self.roles.hide()
        keep_arrows(self.tabs)
        keep_arrows(self.roles)
        keep_space(self.roles)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addLayout(self._head())
        column.addWidget(self.remark)
        column.addWidget(self.stack)
        player.t_changed.connect(self._follow)

    def add_places(self, places: PlacementView) -> None:
        """Where blocks ran, in the last tab; there is no run before."""
        self.places = places
        self.stack.addWidget(places)
        tab_after(self.views[-1], places)
        self.stack.setCurrentIndex(self.tabs.currentIndex())

    def show_runs(self, showing: Showing) -> None:
        """Show the code of the runs."""
        self._runs = showing.runs
        self.places.show_runs(showing)
        roles = list(self._runs)
        role = self._role if self._role in roles else roles[0]
        self.roles.blockSignals(True)
        self.roles.clear()
        for key in roles:
            self.roles.addItem(showing.title(key), key)
        self.roles.setCurrentIndex(roles.index(role))
        self.roles.blockSignals(False)
        self.roles.setVisible(len(roles) > 1)
        self._step = None
        self._show_role(role)
        self._follow()

    def clear(self) -> None:
        """Show no code."""
        self._runs, self._codes = {}, []
        self._step = None
        self.kernel.say("")
        self.remark.hide()
        self.roles.hide()
        self.places.clear()
        for view in self.views:
            view.light(())
            view.show_code("", {})

    def show_error(self, name: str, text: str, marked: Mapping[int, str]) -> None:
        """Show a source that does not compile, with what was said of which line."""
        self.clear()
        self.kernel.say(name)
        self.tabs.setCurrentIndex(0)
        self.views[0].show_code(text, {line: (said, said) for line, said in marked.items()})
        self.views[0].light(marked)

    def next_tab(self) -> None:
        """The next tab, and the first after the last."""
        self.tabs.setCurrentIndex((self.tabs.currentIndex() + 1) % self.tabs.count())

    def view(self) -> QWidget:
        """What takes the focus in the tab in front."""
        tab = self.tabs.currentIndex()
        return self.views[tab] if tab < len(self.views) else self.places.canvas

    def _head(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(6, 0, 12, 0)
        row.addWidget(self.tabs)
        row.addWidget(self.kernel, 1, alignment=Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.roles, alignment=Qt.AlignmentFlag.AlignVCenter)
        return row

    def _turn(self, tab: int) -> None:
        self.stack.setCurrentIndex(tab)
        self._remark()

    def _show_role(self, role: str) -> None:
        run = self._runs.get(role)
        if run is None:
            return
        self._role = role
        self.kernel.say(_launch(run))
        self._codes = _codes(run)
        for view, code in zip(self.views, self._codes, strict=True):
            view.show_code(code.text, code.notes)
            view.setPlaceholderText(code.missing)
        self.places.show_role(role)
        self._light()

    def _follow(self, *_: object) -> None:
        """Light the line of the step under way."""
        story = self._player.story
        step = story.steps[story.step_at(self._player.t)] if story and story.steps else None
        if step is self._step:
            return
        self._step = step
        if step is not None and step.role in self._runs and step.role != self._role:
            self.roles.setCurrentIndex(self.roles.findData(step.role))
        self._light()

    def point_at(self, role: str, line: int, kind: str = "") -> None:
        """Light a line of a run, until the story goes on to another step; where a step of the story
        is about that line, the story goes there: to one of this kind, if there is one.
        """
        self._go_to(role, line, kind)
        if role in self._runs and role != self._role:
            self.roles.setCurrentIndex(self.roles.findData(role))
        for view, code in zip(self.views, self._codes, strict=False):
            view.light(code.lines.get(line, frozenset()))

    def _go_to(self, role: str, line: int, kind: str = "") -> bool:
        """Go to the next step of the story about a line; after the last, to the first."""
        story, now = self._player.story, self._player.t
        steps = [s for s in (story.steps if story else ()) if s.line == line]
        steps = [s for s in steps if s.role in ("", role)]
        starts = [s.start for s in steps if s.kind == kind] or [s.start for s in steps]
        if starts:
            self._player.pause()
            self._player.seek(next((t for t in starts if t > now + 1e-6), starts[0]))
        return bool(starts)

    def _choose(self, shown: int) -> None:
        """A line was clicked, of whichever code: the story goes to its request."""
        tab = self.tabs.currentIndex()
        if tab < len(self._codes):
            lines = self._codes[tab].lines
            for line in (line for line, places in lines.items() if shown in places):
                if self._go_to(self._role, line):
                    return

    def _line(self) -> int:
        """The CUDA line of the step under way, 0 when it is none of this run's."""
        step = self._step
        if step is None or step.role not in ("", self._role) or self._role not in self._runs:
            return 0
        return step.line

    def _light(self) -> None:
        line = self._line()
        for view, code in zip(self.views, self._codes, strict=False):
            view.light(code.lines.get(line, frozenset()))
        self._remark()

    def _remark(self) -> None:
        """Below the tab of the machine code: what the assembler changed."""
        run = self._runs.get(self._role)
        told = run is not None and run.listing is not None and self.tabs.currentIndex() == SASS
        said = _remarks(run, self._line()) if run is not None and told else ""
        self.remark.say(said)
        self.remark.setVisible(bool(said))


def _codes(run: Run) -> list[Code]:
    """The text of each tab of code. What finds it is loaded with the first run."""
    from gpuviz.results import code_text

    return [code_text.cuda(run), code_text.ptx(run), code_text.sass(run)]


def _remarks(run: Run, line: int) -> str:
    from gpuviz.results.code_text import remarks

    return remarks(run, line)


def _launch(run: Run) -> str:
    """Kernel and geometry as in a launch: name<<<grid, block>>>."""
    from gpuviz.kernels.signature import short_name

    launch = run.trace.launch
    grid, block = (_geometry(g) for g in (launch.grid, launch.block))
    return f"{short_name(launch.kernel)}  <<<{grid}, {block}>>>"


def _geometry(size: tuple[int, int, int]) -> str:
    """Sizes without trailing ones."""
    kept = list(size)
    while len(kept) > 1 and kept[-1] == 1:
        kept.pop()
    return " × ".join(map(str, kept))
