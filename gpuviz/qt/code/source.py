"""The code of the run being told, the current line lit; and where its blocks ran."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QSizePolicy, QStackedWidget, QTabBar, QWidget

from gpuviz.qt.code.code_view import CodeView
from gpuviz.qt.code.editor import Editor
from gpuviz.qt.code.find_bar import FindBar
from gpuviz.qt.controls.controls import Combo, ElidedLabel, button, keep_arrows, keep_space
from gpuviz.qt.controls.layouts import column_of, row_of, tab_after
from gpuviz.story.compare import SIDES
from gpuviz.story.script import moments_on
from gpuviz.views.playback import CLOSE
from gpuviz.words.language import later, tr

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpuviz.memory.line_costs import AccessCost
    from gpuviz.memory.operands import Operands
    from gpuviz.qt.code.buffers_view import BuffersView
    from gpuviz.qt.code.lines_view import LinesView
    from gpuviz.qt.code.operand_finder import OperandFinder
    from gpuviz.qt.code.side_by_side import SideBySide
    from gpuviz.qt.look.theme import Theme
    from gpuviz.qt.playing.player import Player
    from gpuviz.qt.timing.placement_view import PlacementView
    from gpuviz.qt.timing.time_view import TimeView
    from gpuviz.results.code_text import Code
    from gpuviz.results.line_rows import LineRow
    from gpuviz.run.run import Run
    from gpuviz.story.exhibit import Exhibit
    from gpuviz.story.script import Step

# Name and language of each tab; one more line here, and in `_codes`, is one more tab.
TABS = ((later("source"), "cuda"), ("PTX", "ptx"), ("SASS", "sass"))
# What stands in the further tabs is made when the window has been painted.
FURTHER = (
    (later("side by side"), later("Source, PTX and SASS, what belongs together in one colour")),
    (later("lines"), later("The lines that cost most, what is wrong with them, and the ideal")),
    (later("buffers"), later("What the launch made of its buffers, and what was expected")),
    (later("SMs"), later("Which multiprocessor ran which block, and when")),
    (later("time"), later("Where the time goes: warps cycle by cycle, and what limits (modelled)")),
    (later("changes"), later("What differs between the texts of A and B")),
)
_ROLE = 4  # letters of the name of a run that are seen at least
SOURCE, PTX, SASS, BESIDE, LINES, BUFFERS, SMS, TIME, CHANGES = range(len(TABS) + len(FURTHER))
# What is filled when its tab comes to the front: the source may be edited, and is there always.
_FILLED_LATE = frozenset(range(PTX, CHANGES))


class Source(QWidget):
    """Tabs of code; with several runs, the one whose turn it is."""

    def __init__(self, player: Player, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._player = player
        self._runs: Mapping[str, Run] = {}
        self._codes: list[Code] = []
        self._showing: Exhibit | None = None
        self._stale = set(_FILLED_LATE)  # tabs that do not show the run in view yet
        self._role, self._lit = "", 0
        self._dated = False  # whether there is a text before
        self._step: Step | None = None
        self.setAccessibleName(tr("Source"))
        self.tabs = QTabBar()
        self.tabs.setAccessibleName(tr("Code tabs"))
        self.tabs.setExpanding(False)
        self.stack = QStackedWidget()
        self.editor = Editor(tr(TABS[0][0]), TABS[0][1], theme)
        read_only = [CodeView(tr(tab[0]), tab[1], theme) for tab in TABS[1:]]
        self.views: list[CodeView] = [self.editor, *read_only]
        for view in self.views:
            self.tabs.addTab(view.accessibleName())
            self.stack.addWidget(view)
            view.chosen.connect(self._choose)
            view.find_asked.connect(self.find_words)
        for tab in FURTHER:
            self.tabs.setTabToolTip(self.tabs.addTab(tr(tab[0])), tr(tab[1]))
        self.tabs.setTabVisible(CHANGES, False)
        self.tabs.currentChanged.connect(self._turn)
        self.finding = FindBar()
        self.finding.closed.connect(lambda: self.view().setFocus())
        self.kernel = ElidedLabel("quiet")
        self.remark = ElidedLabel("remark")
        self.remark.hide()
        self.roles = Combo(tr("Run whose code is shown"), theme)
        # Tabs are seen whole before long names of runs are; these are cut, and whole in the list.
        self.roles.setSizeAdjustPolicy(Combo.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.roles.setMinimumContentsLength(_ROLE)
        self.roles.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.roles.currentIndexChanged.connect(lambda i: self._show_role(self.roles.itemData(i)))
        self.roles.hide()
        self.before = button(tr("A | before"), tr("Compare with the text before"), "chip")
        self.before.hide()
        keep_space(self.before)
        keep_arrows(self.tabs)
        keep_arrows(self.roles)
        keep_space(self.roles)
        side = Qt.AlignmentFlag.AlignVCenter
        head = row_of(self.tabs, gap=3, margins=(6, 0, 12, 0))
        head.addWidget(self.kernel, 1, side)
        head.addWidget(self.before, 0, side)
        head.addWidget(self.roles, 2)
        column_of(head, self.remark, self.stack, self.finding, on=self, gap=2)
        player.t_changed.connect(self._follow)

    def add_views(
        self,
        beside: SideBySide,
        lines: LinesView,
        buffers: BuffersView,
        places: PlacementView,
        time: TimeView,
        finder: OperandFinder,
        changes: CodeView,
    ) -> None:
        """What stands in the further tabs; there is no run before."""
        self.beside, self.lines, self.buffers, self.places = beside, lines, buffers, places
        self.time, self._finder = time, finder
        self.changes = changes
        self._focus: tuple[QWidget, ...] = (
            *(view.focus for view in (beside, lines, buffers, places, time)),
            changes,
        )
        further: tuple[QWidget, ...] = (beside, lines, buffers, places, time, changes)
        for view in further:
            self.stack.addWidget(view)
        for view in reversed(further):
            tab_after(self.views[-1], view)
        lines.pointed.connect(self._show_access)
        lines.source_asked.connect(lambda: self.tabs.setCurrentIndex(SOURCE))
        beside.pointed.connect(lambda line: self.point_at(self._role, line))
        time.pointed.connect(self.point_at)
        finder.found.connect(self._learn)
        self.stack.setCurrentIndex(self.tabs.currentIndex())

    def show_runs(self, showing: Exhibit) -> None:
        """Show the code of the runs."""
        self._runs, self._showing = showing.runs, showing
        self.places.show_runs(showing)
        roles = list(self._runs)
        role = self._role if self._role in roles else roles[0]
        with QSignalBlocker(self.roles):
            self.roles.clear()
            self.roles.add((showing.title(key), key) for key in roles)
            self.roles.choose(role)
            self.roles.setMaximumWidth(self._roles_width())
        self.roles.setVisible(len(roles) > 1)
        self._offer()
        self.changes.show_code(_changes(showing), {})
        self.tabs.setTabVisible(CHANGES, bool(self.changes.toPlainText()))
        self._step = None
        self._show_role(role)
        self._follow()

    def update_runs(self, showing: Exhibit) -> None:
        """The same launches: runs that were waited for have code, too."""
        if list(showing.runs) != list(self._runs):
            self.show_runs(showing)

    def clear(self) -> None:
        """Show no code."""
        self._runs, self._codes = {}, []
        self._step = None
        self.kernel.say("")
        self.remark.hide()
        self.roles.hide()
        self._stale = set(_FILLED_LATE)
        for further in (self.beside, self.lines, self.buffers, self.places, self.time):
            further.clear()
        self.tabs.setTabVisible(CHANGES, False)
        for view in self.views:
            view.light(())
            view.show_code("", {})

    def show_error(self, name: str, text: str, marked: Mapping[int, str]) -> None:
        """Show a source that does not compile, with what was said of which line."""
        self.clear()
        self.kernel.say(name)
        self.tabs.setCurrentIndex(0)
        self.editor.stop()
        self.views[0].show_code(text, {line: (said, said) for line, said in marked.items()})
        self.views[0].light(marked)

    def offer_before(self, date: str) -> None:
        """Offer to compare with the text before, of this date; "" where there is none."""
        self.before.setToolTip(tr("Compare with the text of {date}", date=date))
        self._dated = bool(date)
        self._offer()

    def _offer(self) -> None:
        """Where two texts are shown already the tabs need its room."""
        compared = self._showing is not None and self._showing.compared
        self.before.setVisible(self._dated and not compared)

    def show_again(self) -> None:
        """Show the code of the runs, where another file's was shown."""
        self._show_role(self._role)

    def mark(self, modified: bool) -> None:
        """The source has changes that are not saved."""
        name = tr(TABS[0][0])
        self.tabs.setTabText(0, f"{name} ●" if modified else name)
        self.tabs.setTabToolTip(0, tr("not saved  (Ctrl+S in the source)") if modified else "")

    def find_words(self) -> None:
        """Find words in the code in front."""
        tab = self.tabs.currentIndex()
        self.finding.begin(self.views[tab if tab < len(self.views) else 0])

    def next_tab(self) -> None:
        """The next tab, and the first after the last."""
        self.tabs.setCurrentIndex((self.tabs.currentIndex() + 1) % self.tabs.count())

    def time_view(self) -> QWidget:
        """What takes the focus in the tab of the time, which comes to the front."""
        self.tabs.setCurrentIndex(TIME)
        return self.view()

    def view(self) -> QWidget:
        """What takes the focus in the tab in front."""
        tab = self.tabs.currentIndex()
        return self.views[tab] if tab < len(self.views) else self._focus[tab - len(self.views)]

    def _roles_width(self) -> int:
        """What the longest name of a run takes, beside what the box itself does."""
        measure = self.roles.fontMetrics()
        texts = [self.roles.itemText(n) for n in range(self.roles.count())]
        cut = self.roles.minimumSizeHint().width() - _ROLE * measure.horizontalAdvance("X")
        return max(cut, 0) + max(map(measure.horizontalAdvance, texts), default=0) + 4

    def _turn(self, tab: int) -> None:
        self.stack.setCurrentIndex(tab)
        self._fill()
        self._remark()

    def _show_role(self, role: str) -> None:
        run = self._runs.get(role)
        if run is None:
            return
        self._role = role
        self.kernel.say(_launch(run))
        self._codes = _codes(run)
        self._show_code(SOURCE)
        self._stale = set(_FILLED_LATE)
        self._lit = self._line()
        self._fill()
        self._light()

    def _show_code(self, tab: int) -> None:
        view, code = self.views[tab], self._codes[tab]
        view.show_code(code.text, code.notes)
        view.setPlaceholderText(code.missing)

    def _fill(self) -> None:
        """What takes a moment is made when its tab comes to the front."""
        tab, run = self.tabs.currentIndex(), self._runs.get(self._role)
        if tab not in self._stale or run is None or self._showing is None:
            return
        self._stale.discard(tab)
        if tab in (PTX, SASS):
            self._show_code(tab)
            self._light_line(self._lit)
        elif tab == BUFFERS:
            self.buffers.show_run(run)
        elif tab == SMS:
            self.places.show_role(self._role)
        elif tab == TIME:
            self.time.show_run(self._showing, self._role)
        else:
            self._fill_lines(tab, self._showing)

    def _fill_lines(self, tab: int, showing: Exhibit) -> None:
        """Lines by cost, or what they became beside each other."""
        rows = _rows(showing, self._role, self._finder.ask(showing, self._role))
        if tab == LINES:
            self.lines.show_rows(self._role, rows)
        else:
            self.beside.show_codes(self._codes)
            self.beside.tell(rows)
            self.beside.light(self._lit)

    def _learn(self, ptx: str, operands: Operands) -> None:
        """Which part of its line each access is, as it was found out."""
        run = self._runs.get(self._role)
        if operands and run is not None and run.trace.ptx == ptx:
            self._stale |= {BESIDE, LINES}
            self._fill()

    def _follow(self) -> None:
        """Light the line of the step under way."""
        story = self._player.story
        step = story.steps[story.step_at(self._player.t)] if story and story.steps else None
        if step is self._step:
            return
        self._step = step
        if step is not None and step.role in self._runs and step.role != self._role:
            self.roles.choose(step.role)
        self._light()

    def point_at(self, role: str, line: int, kind: str = "", instruction: str = "") -> None:
        """Light a line of a run, until the story goes on to another step; where a step of the story
        is about that line, the story goes there: to one of this kind, if there is one, or to one
        that names this instruction.
        """
        self._go_to(role, line, kind, instruction)
        if role in self._runs and role != self._role:
            self.roles.choose(role)
        self._light_line(line)

    def _light_line(self, line: int) -> None:
        self._lit = line
        for tab, (view, code) in enumerate(zip(self.views, self._codes, strict=False)):
            if tab not in self._stale:
                view.light(code.lines.get(line, frozenset()))
        if BESIDE not in self._stale:
            self.beside.light(line)

    def _show_access(self, role: str, access: AccessCost) -> None:
        """The line and the moment of an access, which a story tells of in the words of the PTX."""
        at, run = access.instruction, self._runs.get(role)
        told = (i.text for i in run.trace.instructions if i.pc == at.pc) if run else ()
        self.point_at(role, at.line, instruction=next(iter(told), at.text))

    def _go_to(self, role: str, line: int, kind: str = "", instruction: str = "") -> bool:
        """Go to the next step of the story about a line; after the last, to the first."""
        story, now = self._player.story, self._player.t
        roles = "", role
        moments = moments_on(story.steps, line, roles, kind, instruction) if story else ()
        if len(moments):
            self._player.pause()
            at = int(np.searchsorted(moments, now + CLOSE, side="right"))
            self._player.seek(float(moments[at % len(moments)]))
        return bool(len(moments))

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
        self._light_line(self._line())
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


def _rows(showing: Exhibit, key: str, operands: Operands) -> list[LineRow]:
    """The lines of a run by cost. What ranks them is loaded when they are looked at first."""
    from gpuviz.arch import architecture
    from gpuviz.memory.line_costs import line_costs
    from gpuviz.results.comparison import line_ratios
    from gpuviz.results.line_rows import rows_of

    run, sides = showing.runs[key], [f"{letter}{key[1:]}" for letter in SIDES]
    costs = line_costs(run.trace, run.counts, operands)
    ratios: dict[int, float] = {}
    if showing.compared and all(side in showing.runs for side in sides):
        a, b = (showing.runs[side] for side in sides)
        ratios = line_ratios(a, b, of_b=key == sides[1])
    return rows_of(costs, architecture(run.arch).has_sectors, run.about, ratios)


def _changes(showing: Exhibit) -> str:
    """What differs between the first texts of A and B, as `diff -u` writes it."""
    if not showing.compared:
        return ""
    runs = (next(iter(side.performance.runs.values())) for side in showing.sides)
    a, b = (run.trace.source.splitlines() for run in runs)
    return "\n".join(difflib.unified_diff(a, b, *SIDES, lineterm=""))


def _remarks(run: Run, line: int) -> str:
    from gpuviz.results.code_text import remarks

    return remarks(run, line)


def _launch(run: Run) -> str:
    """Kernel and geometry as in a launch: name<<<grid, block>>>."""
    from gpuviz.launch.signature import short_name

    launch = run.trace.launch
    grid, block = (_geometry(g) for g in (launch.grid, launch.block))
    return f"{short_name(launch.kernel)}  <<<{grid}, {block}>>>"


def _geometry(size: tuple[int, int, int]) -> str:
    """Sizes without trailing ones."""
    kept = list(size)
    while len(kept) > 1 and kept[-1] == 1:
        kept.pop()
    return " × ".join(map(str, kept))
