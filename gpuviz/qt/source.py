"""The code of the run being told: its CUDA source and its PTX, the current line lit in both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QTabBar, QVBoxLayout, QWidget

from gpuviz.arch import architecture
from gpuviz.memory.counting import CountRow
from gpuviz.ptx.parser import parse
from gpuviz.qt.code_view import CodeView
from gpuviz.qt.controls import Combo, keep_arrows, keep_space, label
from gpuviz.qt.player import Player
from gpuviz.qt.quantities import per_request
from gpuviz.qt.theme import Theme
from gpuviz.runners.base import Run
from gpuviz.scenes.base import Step
from gpuviz.scenes.perform import Performance

# Name and language of each tab; one more line here is one more tab (SASS).
TABS = (("source", "cuda"), ("PTX", "ptx"))


@lru_cache(maxsize=8)
def ptx_lines(ptx: str) -> Mapping[int, frozenset[int]]:
    """For each CUDA line the lines of the PTX text that it became."""
    found: dict[int, set[int]] = {}
    for function in parse(ptx).functions:
        for instruction in function.body:
            found.setdefault(instruction.line, set()).add(instruction.ptx_line)
    return {line: frozenset(lines) for line, lines in found.items() if line}


def line_notes(
    rows: Iterable[CountRow], line_of: Callable[[CountRow], int], sectors: bool
) -> dict[int, tuple[str, str]]:
    """What each line cost, in full and in brief."""
    by_line: dict[int, list[CountRow]] = {}
    for row in rows:
        by_line.setdefault(line_of(row), []).append(row)
    return {
        line: (per_request(found, False, sectors), per_request(found, True, sectors))
        for line, found in by_line.items()
        if line
    }


class Source(QWidget):
    """Tabs of code; with several runs, the one whose turn it is."""

    def __init__(self, player: Player, theme: Theme) -> None:
        super().__init__()
        self._player = player
        self._runs: Mapping[str, Run] = {}
        self._role = ""
        self._step: Step | None = None
        self.setAccessibleName("Source")
        self.tabs = QTabBar()
        self.tabs.setAccessibleName("Code tabs")
        self.tabs.setExpanding(False)
        self.stack = QStackedWidget()
        self.views = [CodeView(name, language, theme) for name, language in TABS]
        for (name, _), view in zip(TABS, self.views, strict=True):
            self.tabs.addTab(name)
            self.stack.addWidget(view)
        self.tabs.currentChanged.connect(self.stack.setCurrentIndex)
        self.kernel = label("", "quiet")
        self.roles = Combo("Run whose code is shown", theme)
        self.roles.setSizeAdjustPolicy(Combo.SizeAdjustPolicy.AdjustToContents)
        self.roles.currentTextChanged.connect(self._show_role)
        keep_arrows(self.tabs)
        keep_arrows(self.roles)
        keep_space(self.roles)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addLayout(self._head())
        column.addWidget(self.stack)
        player.t_changed.connect(self._follow)

    def show_performance(self, performance: Performance) -> None:
        """Show the code of a performance's runs."""
        self._runs = performance.runs
        roles = list(self._runs)
        role = self._role if self._role in roles else roles[0]
        self.roles.blockSignals(True)
        self.roles.clear()
        self.roles.addItems(roles)
        self.roles.setCurrentText(role)
        self.roles.blockSignals(False)
        self.roles.setVisible(len(roles) > 1)
        self._step = None
        self._show_role(role)
        self._follow()

    def clear(self) -> None:
        """Show no code."""
        self._runs = {}
        self._step = None
        self.kernel.clear()
        self.roles.hide()
        for view in self.views:
            view.light(())
            view.show_code("", {})

    def next_tab(self) -> None:
        """The next tab, and the first after the last."""
        self.tabs.setCurrentIndex((self.tabs.currentIndex() + 1) % self.tabs.count())

    def view(self) -> CodeView:
        """The code in front."""
        return self.views[self.tabs.currentIndex()]

    def _head(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(6, 0, 12, 0)
        row.addWidget(self.tabs)
        row.addStretch(1)
        row.addWidget(self.kernel, alignment=Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.roles, alignment=Qt.AlignmentFlag.AlignVCenter)
        return row

    def _show_role(self, role: str) -> None:
        run = self._runs.get(role)
        if run is None:
            return
        self._role = role
        trace, rows = run.trace, run.counts.rows
        sectors = architecture(run.arch).has_sectors
        self.kernel.setText(_launch(run))
        cuda, ptx = self.views
        of_cuda = line_notes(rows, lambda r: r.instruction.line, sectors)
        of_ptx = line_notes(rows, lambda r: r.instruction.ptx_line, sectors)
        cuda.show_code(trace.source.rstrip("\n"), of_cuda)
        ptx.show_code(trace.ptx.rstrip("\n"), of_ptx)
        self._light()

    def _follow(self, *_: object) -> None:
        """Light the line of the step under way."""
        story = self._player.story
        step = story.steps[story.step_at(self._player.t)] if story and story.steps else None
        if step is self._step:
            return
        self._step = step
        if step is not None and step.role in self._runs and step.role != self._role:
            self.roles.setCurrentText(step.role)
        self._light()

    def _light(self) -> None:
        step = self._step
        cuda, ptx = self.views
        here = step is not None and step.line > 0 and step.role in ("", self._role)
        if step is None or not here or self._role not in self._runs:
            cuda.light(())
            ptx.light(())
            return
        cuda.light((step.line,))
        ptx.light(ptx_lines(self._runs[self._role].trace.ptx).get(step.line, frozenset()))


def _launch(run: Run) -> str:
    """Kernel and geometry as in a launch: name<<<grid, block>>>."""
    launch = run.trace.launch
    grid, block = (_geometry(g) for g in (launch.grid, launch.block))
    return f"{launch.kernel}  <<<{grid}, {block}>>>"


def _geometry(size: tuple[int, int, int]) -> str:
    """Sizes without trailing ones."""
    kept = list(size)
    while len(kept) > 1 and kept[-1] == 1:
        kept.pop()
    return " × ".join(map(str, kept))
