"""Makes a bundle of a lecture: gathers kernels, compiles every launch, collects recordings.

What goes in is gathered first, as a list to be shown: nothing leaves that nobody has seen.
"""

import os
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from gpuviz.base.errors import Cancelled, InputError, UnavailableError
from gpuviz.base.waiting import Cancel, Progress, go_on, quiet
from gpuviz.compile import CompileError, bundled, own_program
from gpuviz.compile.program import Program
from gpuviz.files import bounded
from gpuviz.files.allowed_paths import Reach, whole_name
from gpuviz.files.writing import whole
from gpuviz.lectures.bundle import (
    KERNELS,
    LARGEST,
    PROGRAMS,
    RECORDINGS,
    TEXT,
    TRACES,
    BundleContents,
    BundleFile,
)
from gpuviz.lectures.lecture import Lecture, Slide
from gpuviz.lectures.markdown.files import packed_as
from gpuviz.lectures.own_files import moved
from gpuviz.lectures.plot_beside import plot_of
from gpuviz.lectures.writing import text_of
from gpuviz.recordings import recording
from gpuviz.recordings.recording import Entry, Recording
from gpuviz.run import session
from gpuviz.run.session import Library
from gpuviz.story import traced
from gpuviz.story.kernel_launch import KernelLaunch, launch_of, record_of
from gpuviz.story.lesson import Plan
from gpuviz.story.perform import job_of
from gpuviz.views.make_view import variants_of
from gpuviz.views.provenance import Provenance


@dataclass(frozen=True)
class KernelTree:
    """Files by their names as seen from the lowest folder that holds them all.

    `kernel` is the name of the kernel's own file.
    """

    kernel: str
    files: Mapping[str, Path]


def tree_of(kernel: Path, read: Iterable[str] | None) -> KernelTree:
    """A kernel's file and the headers `read` (`Program.read`), in folders as they are.

    Raises
    ------
    InputError : the compiler did not say what it read, or there is no folder that holds all
    """
    if read is None:
        raise InputError(
            f"{kernel} cannot be packed: this compiler does not tell which headers it reads. "
            "Include none, or install NVRTC: pip install nvidia-cuda-nvrtc"
        )
    own = kernel.parent.resolve() / kernel.name
    every = {own, *map(whole_name, map(Path, read))}
    try:
        root = Path(os.path.commonpath([file.parent for file in every]))
    except ValueError:  # other drives
        raise InputError(
            f"{kernel} and its headers cannot be packed: they share no drive"
        ) from None
    files = {file.relative_to(root).as_posix(): file for file in sorted(every)}
    return KernelTree(own.relative_to(root).as_posix(), files)


def check_moved(launch: KernelLaunch, copy: Path, home: Path, made: Mapping[str, Program]) -> None:
    """InputError unless the copy compiles to the same programs, by architecture, with nothing but
    what lies in `home`.

    It does not where headers are included by their whole names.
    """
    kernel = launch.path
    for arch, program in made.items():
        try:
            again = own_program(copy, arch, dict(launch.defines), options=launch.options)
        except UnavailableError:
            return  # what it carries was not compiled here, but came with it
        except CompileError as error:
            raise InputError(_unmoved(kernel, str(error))) from None
        if any(Reach(home).elsewhere(Path(file)) for file in again.read or ()):
            raise InputError(_unmoved(kernel, "It would not find them there."))
        if again.ptx != program.ptx:
            raise InputError(_unmoved(kernel, "It would become another program there."))


def _unmoved(kernel: Path, why: str) -> str:
    return (
        f"{kernel} cannot be packed: it does not compile away from its folder. Include its headers "
        f"by names as seen from there, as in “../include/mine.h”. {why}"
    )


Measured = Callable[[Plan], Entry | None]


@dataclass(frozen=True, eq=False)
class _BundleDraft:
    """A bundle being made: its files so far, by name, which lie in `home` as they are named."""

    home: Path
    library: Library
    measured: Measured
    files: dict[str, BundleFile] = field(default_factory=dict)
    entries: dict[object, Entry] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def has_other(self, name: str, content: bytes) -> bool:
        """Whether there is a file of that name with another content."""
        return name in self.files and self.files[name].content != content

    def add(self, name: str, content: bytes, origin: Path | None = None) -> None:
        """A file, also to be found in `home`."""
        self.files[name] = BundleFile(name, content, whole_name(origin) if origin else None)
        (self.home / name).parent.mkdir(parents=True, exist_ok=True)
        (self.home / name).write_bytes(content)


def gather(
    lecture: Lecture,
    reach: Reach | None = None,
    measured: Measured | None = None,
    progress: Progress = quiet,
    cancel: Cancel = go_on,
    library: Library | None = None,
) -> BundleContents:
    """What a bundle of the lecture has in it. It takes as long as compiling every launch.

    Launches are looked up in `library`, by default in what ships; `measured` finds what a GPU made
    of a launch in place of its recordings. Files beyond `reach` are from outside; without one, all
    are. A kernel that does not compile is packed all the same.

    Raises
    ------
    InputError : a file of a kernel is missing, or its headers would not be found in a bundle
    UnavailableError : a kernel cannot be compiled here
    Cancelled : `cancel` said so
    """
    library = library or session.shipped()
    with tempfile.TemporaryDirectory() as folder:
        made = _BundleDraft(Path(folder), library, measured or library.recordings.entry)
        slides: list[Slide] = []
        for number, slide in enumerate(lecture.slides, 1):
            if cancel():
                raise Cancelled("stopped; the bundle was not written")
            slides.append(_gathered(slide, number, made))
            progress(number / (len(lecture.slides) + 1))
        told = replace(lecture, slides=tuple(slides), agreed=frozenset())
        made.add(TEXT, text_of(told, made.home).encode())
    for name, content in _recordings(made.entries.values()).items():
        made.files[name] = BundleFile(name, content)
    files = tuple(made.files[name] for name in sorted(made.files))
    progress(1.0)
    return BundleContents(files, _outside(files, reach), tuple(made.problems))


def write(packing: BundleContents, path: Path) -> None:
    """Write the bundle, whole or not at all; InputError when that cannot be done."""
    with whole(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for packed in packing.files:
            archive.writestr(
                zipfile.ZipInfo(packed.name, (1980, 1, 1, 0, 0, 0)),
                packed.content,
                zipfile.ZIP_DEFLATED,
            )


def _outside(files: Iterable[BundleFile], reach: Reach | None) -> tuple[Path, ...]:
    origins = dict.fromkeys(file.origin for file in files if file.origin is not None)
    return tuple(file for file in origins if reach is None or reach.elsewhere(file))


def _gathered(slide: Slide, number: int, made: _BundleDraft) -> Slide:
    """A slide as it is in the bundle; its files and what was measured of it are added."""
    for name, file in slide.pictures:
        made.add(packed_as(name), _read(file), file)
    if slide.view is None:
        return slide
    programs: dict[str, Program] = {}
    read: list[str] | None = []
    for side in variants_of(slide.view, plot=plot_of(slide)):
        arch = side.arch
        for plan in side.lesson.plan(side.values):
            if (entry := made.measured(plan)) is not None:
                made.entries[entry.launch] = entry
            if not Path(plan.kernel).is_absolute():
                continue  # a kernel of the course is there wherever gpuviz is
            try:
                program = job_of(plan, arch, library=made.library).program
                programs[arch] = program
                found = program.read
                _add_program(plan, arch, program, made)
            except CompileError as error:
                made.problems.append(f"slide {number}: {error}")
                found = error.read
            read = None if read is None or found is None else [*read, *found]
    if traced.FILE in slide.view.launch:
        return _with_trace(slide, slide.view, made)
    return _with_kernel(slide, slide.view, read, programs, made) if slide.view.launch else slide


def _add_program(plan: Plan, arch: str, program: Program, made: _BundleDraft) -> None:
    """The program of a launch, for a machine that cannot compile it."""
    built = bundled.building(dict(plan.defines), plan.options)
    key = bundled.own_key(Path(plan.kernel), program, built, arch)
    content = bundled.pack(key, program).encode()
    known = [file for file in made.files.values() if file.name.startswith(f"{PROGRAMS}/")]
    if all(file.content != content for file in known):
        made.add(f"{PROGRAMS}/{len(known)}.json", content)


def _with_trace(slide: Slide, view: Provenance, made: _BundleDraft) -> Slide:
    """A slide whose trace lies in the bundle."""
    file = traced.path_of(view.launch)
    content, name, number = _read(file), f"{TRACES}/{file.name}", 1
    while made.has_other(name, content):
        number += 1
        name = f"{TRACES}/{file.stem}-{number}{file.suffix}"
    made.add(name, content, file)
    return replace(slide, view=replace(view, launch={traced.FILE: str(made.home / name)}), raw="")


def _with_kernel(
    slide: Slide,
    view: Provenance,
    read: list[str] | None,
    programs: dict[str, Program],
    made: _BundleDraft,
) -> Slide:
    """A slide whose kernel lies in the bundle, with its headers and the files of its arguments."""
    launch = launch_of(view.launch)
    if not launch.path.is_file():
        raise InputError(f"the kernel file {launch.path} of the slide “{slide.name}” is missing")
    tree = tree_of(launch.path, read)
    contents = {name: _read(file) for name, file in tree.files.items()}
    place = _place(launch.path.stem, contents, made)
    for name, content in contents.items():
        made.add(f"{place}/{name}", content, tree.files[name])
    copy = made.home / place / tree.kernel
    if len(tree.files) > 1:
        check_moved(launch, copy, made.home, programs)
    arguments = moved(launch.arguments, lambda name: _data(Path(name), place, made))
    record = record_of(replace(launch, path=copy, arguments=arguments))
    return replace(slide, view=replace(view, launch=record | {"file": copy.as_posix()}), raw="")


def _place(stem: str, contents: dict[str, bytes], made: _BundleDraft) -> str:
    """A folder of the bundle for a kernel and its headers; the same one for the same files."""
    place, number = f"{KERNELS}/{stem}", 1
    while any(made.has_other(f"{place}/{name}", content) for name, content in contents.items()):
        number += 1
        place = f"{KERNELS}/{stem}-{number}"
    return place


def _data(file: Path, place: str, made: _BundleDraft) -> str:
    """The name in the bundle of a file that an argument is read from."""
    content = _read(file)
    while made.has_other(f"{place}/{file.name}", content):
        place += "/other"  # another file of that name is there: both keep theirs
    made.add(f"{place}/{file.name}", content, file)
    return f"{place}/{file.name}"


def _read(file: Path) -> bytes:
    return bounded.read(file, LARGEST)


def _recordings(entries: Iterable[Entry]) -> dict[str, bytes]:
    """A recording for each device that measured some of the launches."""
    by_device: dict[str, list[Entry]] = {}
    for entry in entries:
        by_device.setdefault(entry.measurement.device.name, []).append(entry)
    files = {}
    with tempfile.TemporaryDirectory() as folder:
        for number, found in enumerate(by_device.values()):
            file = Path(folder) / f"{number}{recording.SUFFIX}"
            recording.write(file, Recording(found[0].measurement.device, tuple(found)))
            files[f"{RECORDINGS}/{file.name}"] = _read(file)
    return files
