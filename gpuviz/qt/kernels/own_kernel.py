"""A user's own kernel while it is shown: launch and source change, and everything runs again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from gpuviz.base.errors import InputError
from gpuviz.compile import (
    CompileError,
    Diagnostic,
    HostLaunch,
    Program,
    compile_arch,
    written_launches,
)
from gpuviz.compile.program import marked_lines
from gpuviz.launch import host_launch
from gpuviz.launch.settings import beside
from gpuviz.launch.texts import NONE, Kernel
from gpuviz.launch.unresolved import resolved, unresolved
from gpuviz.qt.controls.controls import timer
from gpuviz.qt.kernels.background_compiler import BackgroundCompiler, Build, BuildRequest
from gpuviz.qt.kernels.kernel_opener import kept
from gpuviz.qt.running.activity import InThread
from gpuviz.story import traced
from gpuviz.story.kernel_launch import KernelLaunch, keep, launch_of
from gpuviz.story.own_kernel.story import lesson_of
from gpuviz.story.refitting import as_written, check_launch, entry_of, fitted
from gpuviz.words.language import tr

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gpuviz.qt.kernels.drafts import Drafts
    from gpuviz.qt.kernels.launch_fields import LaunchPanel
    from gpuviz.qt.running.core import Core
    from gpuviz.story.exhibit import Exhibit
    from gpuviz.story.lesson import Lesson
    from gpuviz.views.state import ViewState

FIELD_MS, SOURCE_MS = 250, 80  # after the last key
NO_SOURCE = (".ptx",)  # what is compiled already is not edited


class OwnKernel(QObject):
    """Follows the player. `launch` is the one that is run, None where a lesson of the course is;
    `text` the source as it is edited, None where it is not.
    """

    turned = Signal()  # another kernel, or none, is shown
    opened = Signal()  # the source can be edited
    doubted = Signal(str)  # why what is typed cannot be run, "" when it can
    said = Signal(str)  # what went wrong beside it, in words
    # What the compiler says of lines of the source, by their numbers.
    marked = Signal(Mapping)  # a `dict` of numbers Qt would empty

    def __init__(self, core: Core, drafts: Drafts, parent: QObject) -> None:
        super().__init__(parent)
        self._core, self._drafts = core, drafts
        self.launch: KernelLaunch | None = None
        self.text: str | None = None
        self.built: Build | None = None
        self.panel: LaunchPanel | None = None
        self.compiling = BackgroundCompiler(self)
        self.compiling.built.connect(self._take)
        self.compiling.failed.connect(self._fail)
        self._fields_soon = timer(self, FIELD_MS, self.read)
        self._source_soon = timer(self, SOURCE_MS, self._compile)
        self._wanted: KernelLaunch | None = None  # what is being compiled for
        self._found: str | None = None  # what was in the file when it was run first
        self._refused = self._broken = ""  # why launch and source cannot be
        self._host: tuple[HostLaunch, ...] = ()  # what the file writes
        self._hosts = InThread(self._know, self)
        core.director.performed.connect(self._arrive)
        core.view.changed.connect(self._follow)

    def begin(self) -> None:
        """Take what is shown already."""
        self._turn(self._core.view.now.lesson)

    def _follow(self, before: ViewState, now: ViewState) -> None:
        if now.lesson != before.lesson:
            self._turn(now.lesson)
        if now.arch != before.arch:
            self._look()

    def follow(self, panel: LaunchPanel) -> None:
        """Take the launch from these fields."""
        self.panel = panel
        panel.fields.changed.connect(self._fields_soon.start)
        self.doubted.connect(panel.say)
        panel.keep_asked.connect(self.keep)
        panel.chosen.connect(self._choose)
        self._show()

    def edit(self, text: str) -> None:
        """Another source: it is compiled soon, and run if that can be done."""
        if self.launch is not None and text != self.text:
            self.text = text
            self._drafts.write(self.launch.path, text)
            self._source_soon.start()

    def keep(self) -> None:
        """Keep the launch beside the file from now on."""
        if self.launch is None:
            return
        lost = keep(self.launch, asked=True)
        file = beside(self.launch.path).name
        self.said.emit(tr("not kept: {why}", why=lost) if lost else tr("saved {file}", file=file))
        self._show()

    def read(self) -> None:
        """Run what stands in the fields, unless that is what is run."""
        self._fields_soon.stop()
        if self.launch is None or self.panel is None:
            return
        try:
            wanted = self.panel.fields.launch(self.launch)
        except InputError as error:
            self._wanted = None
            self._doubt(str(error))
            return
        self.want(wanted)

    def want(self, launch: KernelLaunch) -> None:
        """Run this launch, compiled first if it has not been so."""
        self._wanted = launch
        building = self._building(launch)
        if self.built is not None and self.built.building == building:
            self._take(self.built)
        else:
            self.compiling.ask(building)

    def build_again(self) -> None:
        """A header has changed."""
        self.built = None
        self._core.director.again()
        self._look()

    def close(self) -> None:
        """The window closes."""
        self._fields_soon.stop()
        self._source_soon.stop()
        self.compiling.cancel()

    def _kernel(self) -> Kernel:
        """The kernel that is launched, as far as it is known."""
        if self.launch is None or self.built is None:
            return NONE
        try:
            return self.built.kernels[entry_of(self.launch, self.built.program)]
        except InputError:
            return NONE

    def _building(self, launch: KernelLaunch) -> BuildRequest:
        view = self._core.view.now
        library = self._core.session.library(view.lecture)
        arch = compile_arch(view.arch)
        how = launch.defines, launch.options, library.reach, library.programs
        return BuildRequest(launch.path, self.text, arch, *how)

    def _turn(self, lesson: Lesson) -> None:
        """Another lesson is shown, or this kernel is launched in another way."""
        own = bool(lesson.launch) and traced.FILE not in lesson.launch
        before, self.launch = self.launch, launch_of(lesson.launch) if own else None
        self._wanted, self._refused = None, ""
        self._fields_soon.stop()
        if self.launch is None or before is None or before.path != self.launch.path:
            self._source_soon.stop()
            self.built = self.text = self._found = None
            self._broken, self._host = "", ()
            if self.launch is not None and self._core.view.now.lecture is None:
                path = self.launch.path
                self._hosts.ask(lambda: written_launches(path, kept(path).include), path)
            self.turned.emit()
        elif (
            self.launch != before
            and self._core.view.now.lecture is None
            and (lost := keep(self.launch))
        ):
            self.said.emit(tr("not kept: {why}", why=lost))
        self.doubted.emit(self._broken)
        self._show()

    def _arrive(self, showing: Exhibit) -> None:
        """What is shown was compiled: to be had from the cache."""
        variant = showing.sides[0].variant
        if variant.lesson is self._core.view.now.lesson and not variant.prebuilt:
            self._open()
            self._look()

    def _open(self) -> None:
        """Have the source edited, unless it is one of a lecture that is shown."""
        if self.launch is None or self.text is not None or self._core.view.now.lecture is not None:
            return
        if self.launch.path.suffix in NO_SOURCE:
            return
        try:
            self.text = self._drafts.open(self.launch.path)
            self._found = self._drafts.base(self.launch.path)
        except InputError:  # it is gone since it was run
            return
        self.opened.emit()

    def _look(self) -> None:
        """Have the program of what is shown, if it is not there."""
        if self.launch is None or self._wanted is not None:
            return
        building = self._building(self.launch)
        if self.built is None or self.built.building != building:
            self.compiling.ask(building)

    def _compile(self) -> None:
        """Compile the source as it is now, for the launch that is wanted."""
        if self.launch is not None:
            self.want(self._wanted or self.launch)

    def _take(self, built: Build) -> None:
        """A program: is the launch one that a device would accept?"""
        if self.launch is None or self._source_soon.isActive():
            return  # more was typed meanwhile
        before, self.built = self.built, built
        self._mark(built.program)
        wanted, self._wanted = self._wanted or self.launch, None
        if self._fields_soon.isActive():
            return
        try:
            entry = entry_of(wanted, built.program)
            kernel = built.kernels[entry]
            known = before.kernels.get(wanted.entry, kernel) if before is not None else kernel
            if (entry, known) != (wanted.entry, kernel):
                wanted = fitted(wanted, entry, known, kernel)
            check_launch(wanted, built.program)
        except InputError as error:
            lost = _first(built.program.warnings)
            self._broken = lost
            self._doubt("" if lost else str(error))
            return
        self._broken = ""
        self._doubt("")
        self._run(wanted, built.building.text)

    def _run(self, launch: KernelLaunch, text: str | None) -> None:
        """Run it, unless it is what is run."""
        core, shown = self._core, self.launch
        assert shown is not None
        library = core.session.library(core.view.now.lecture)
        ran = library.texts.get(launch.path, self._found)
        if launch == shown and text == ran:
            self._show()
            return
        building = launch.defines, launch.options
        if text != ran or building != (shown.defines, shown.options):
            core.director.hurry()
        if text != ran:
            core.session.use_text(launch.path, text)
        if launch != shown:
            picture = {"picture": core.view.now.values["picture"]}  # another kernel's is shown, too
            with core.view.together():
                core.course.open_any(lesson_of(launch))
                core.view.set_values(picture)
        else:
            core.director.run()
        self._show()

    def _fail(self, building: BuildRequest, error: Exception) -> None:
        if self.launch is None or self._source_soon.isActive():
            return
        self._open()
        if isinstance(error, CompileError):
            self._mark(error)
            self._broken = _first(error.diagnostics) or str(error).partition("\n")[0]
            self._doubt("")
        else:
            self._doubt(str(error).partition("\n")[0])

    def _mark(self, said: CompileError | Program) -> None:
        """The lines of the source that a compiler complains about, and what it says."""
        self.marked.emit(marked_lines(said, self.launch.path.name) if self.launch else {})

    def _doubt(self, refused: str) -> None:
        self._refused = refused
        self.doubted.emit(self._broken or refused)

    def _show(self) -> None:
        if self.panel is None:
            return
        self.panel.setVisible(self.launch is not None)
        kept = self.launch is None or beside(self.launch.path).is_file()
        self.panel.keep.setVisible(not kept and self._core.view.now.lecture is None)
        if self.launch is not None and not self._fields_soon.isActive():
            self.panel.fields.show_launch(self.launch, self._kernel())
            self._offer(self.panel, self.launch)

    def _know(self, path: object, found: object) -> None:
        """The launches that a file writes, where it is the one shown."""
        if self.launch is not None and path == self.launch.path and isinstance(found, tuple):
            self._host = found
            self._show()

    def _offer(self, panel: LaunchPanel, launch: KernelLaunch) -> None:
        """The launches of the file, and which of them is shown."""
        offered = self._written()
        likely = [self._likeness(launch, *one) for one in offered]
        number = likely.index(max(likely)) if any(likely) else -1
        lost = () if self.built is None else unresolved(self.built.program, self._host)
        refused = [(one.words, one.remedy) for one in lost if not one.sole]
        said = [host_launch.words(host, launch.path.name) for host, _ in offered]
        panel.offer(said, refused, number)

    def _written(self) -> tuple[tuple[HostLaunch, str], ...]:
        kernels = () if self.built is None else self.built.program.kernels
        return resolved(self._host, kernels)

    def _likeness(self, launch: KernelLaunch, host: HostLaunch, entry: str) -> int:
        """Whether a launch is the one that the file writes: 2 with all arguments, 1 but for some,
        which may have been proposed anew since.
        """
        sizes = (host.grid or launch.grid, host.block or launch.block)
        if entry != launch.entry or sizes != (launch.grid, launch.block):
            return 0
        try:
            return 1 + (self._as_written(host, entry).arguments == launch.arguments)
        except InputError:
            return 1

    def _as_written(self, host: HostLaunch, entry: str) -> KernelLaunch:
        assert self.launch is not None and self.built is not None
        return as_written(self.launch, host, entry, self.built.kernels[entry])

    def _choose(self, number: int) -> None:
        """Run a launch that the file writes."""
        try:
            self.want(self._as_written(*self._written()[number]))
        except InputError as error:
            self._doubt(str(error))


def _first(said: Iterable[Diagnostic]) -> str:
    """The first error, with its place."""
    errors = (one for one in said if one.severity == "error")
    return next((f"{one.file}:{one.line}: {one.text}" for one in errors), "")
