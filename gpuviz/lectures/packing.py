"""Makes a bundle of a lecture: gathers kernels, compiles every launch, collects recordings."""

from __future__ import annotations

import re
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from gpuviz import bounded
from gpuviz.compile import bundled
from gpuviz.compile.bundled import Programs
from gpuviz.compile.compiler import own_headers, read_text
from gpuviz.errors import Cancelled, InputError
from gpuviz.files import whole
from gpuviz.lectures.bundle import KERNELS, LARGEST, PROGRAMS, RECORDINGS, TEXT, TRACES
from gpuviz.lectures.lecture import Lecture, Slide
from gpuviz.lectures.writing import text_of
from gpuviz.runners import recording, session
from gpuviz.runners.base import Cancel, Progress, go_on, quiet
from gpuviz.runners.recording import Entry, Recording
from gpuviz.runners.session import Library
from gpuviz.scenes import traced
from gpuviz.scenes.base import Plan, Values
from gpuviz.scenes.check import check_values
from gpuviz.scenes.kernel import launch_of, record_of
from gpuviz.scenes.perform import job_of
from gpuviz.views.performed import lesson_for
from gpuviz.views.provenance import Provenance

Measured = Callable[[Plan], Entry | None]
_DATA = re.compile(r"^(.*=\s*@)(.+)$", re.DOTALL)  # an argument that is read from a file


def pack(
    lecture: Lecture,
    path: Path,
    measured: Measured | None = None,
    progress: Progress = quiet,
    cancel: Cancel = go_on,
    library: Library | None = None,
) -> None:
    """Write the bundle, whole or not at all. It takes as long as compiling every launch.

    Launches are looked up in `library`, by default in what ships; `measured` finds what a GPU made
    of a launch in place of its recordings.

    Raises
    ------
    InputError : a file of a kernel is missing or lies elsewhere, or the bundle cannot be written
    CompileError, UnavailableError : a kernel cannot be compiled
    Cancelled : `cancel` said so
    """
    library = library or session.shipped()
    find = measured or library.recordings.entry
    files = _named(lecture)
    entries: dict[object, Entry] = {}
    views = [
        (slide.view, *one)
        for slide in lecture.slides
        if slide.view is not None
        for one in _variants(slide.view)
    ]
    for number, (view, values, arch) in enumerate(views):
        if cancel():
            raise Cancelled(f"stopped; {path} was not written")
        for plan in lesson_for(view).plan(values):
            _compile(plan, arch, files, library.programs)
            if (entry := find(plan)) is not None:
                entries[entry.launch] = entry
        progress((number + 1) / (len(views) + 1))
    files |= _recordings(entries.values())
    _write(files, path)
    progress(1.0)


def _named(lecture: Lecture) -> dict[str, bytes]:
    """The text and the files it names, which lie in the bundle as they are named."""
    files: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        slides = tuple(_moved(slide, files, home) for slide in lecture.slides)
        for name, content in files.items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_bytes(content)
        files[TEXT] = text_of(replace(lecture, slides=slides), home).encode()
    return files


def _variants(view: Provenance) -> Iterator[tuple[Values, str]]:
    """The values and architecture of each side of a view."""
    lesson = lesson_for(view)
    yield check_values(lesson, view.values), view.arch
    if view.compared:
        yield (
            check_values(lesson, {**view.values, **view.compare_values}),
            view.compare_arch or view.arch,
        )


def _compile(plan: Plan, arch: str, files: dict[str, bytes], programs: Programs) -> None:
    """The program of a kernel that lies in the bundle, for a machine that cannot compile it."""
    own = Path(plan.kernel)
    if not own.is_absolute():
        return  # a kernel of the course is never taken from a file
    program = job_of(plan, arch, programs=programs).program
    key = bundled.key_of(own.name, bundled.text_of(own), dict(plan.defines), arch)
    content = bundled.pack(key, program).encode()
    if content not in files.values():
        files[f"{PROGRAMS}/{len(files)}.json"] = content


def _moved(slide: Slide, files: dict[str, bytes], home: Path) -> Slide:
    """A slide whose kernel or trace lies in the bundle; its files are added."""
    if slide.view is None or not slide.view.launch:
        return slide
    if traced.FILE in slide.view.launch:
        file = traced.path_of(slide.view.launch)
        name = _free(f"{TRACES}/{file.name}", _read(file), files)
        return replace(
            slide, view=replace(slide.view, launch={traced.FILE: str(home / name)}), raw=""
        )
    launch = launch_of(slide.view.launch)
    if not launch.path.is_file():
        raise InputError(f"the kernel file {launch.path} of the slide “{slide.name}” is missing")
    folder = launch.path.parent
    own = {launch.path: _read(launch.path)}
    for header, text in own_headers(read_text(launch.path), (folder.resolve(),)).items():
        own[header] = text.encode()
    beside: dict[str, bytes] = {}
    for file, content in own.items():
        if not file.resolve().is_relative_to(folder.resolve()):
            raise InputError(
                f"{launch.path} includes {file}, which does not lie beside it: move "
                "it there, for a bundle to hold both"
            )
        beside[file.resolve().relative_to(folder.resolve()).as_posix()] = content
    place = _place(launch.path, beside, files)
    files |= {f"{place}/{name}": content for name, content in beside.items()}
    arguments = tuple(_data(spec, place, files) for spec in launch.arguments)
    moved = replace(launch, path=home / place / launch.path.name, arguments=arguments)
    record = record_of(moved) | {"file": moved.path.as_posix()}
    return replace(slide, view=replace(slide.view, launch=record), raw="")


def _place(kernel: Path, beside: dict[str, bytes], files: dict[str, bytes]) -> str:
    """A folder of the bundle for a kernel and its headers; the same one for the same files."""
    stem, number = kernel.stem, 1
    while True:
        place = f"{KERNELS}/{stem}" if number == 1 else f"{KERNELS}/{stem}-{number}"
        if all(
            files.get(f"{place}/{name}", content) == content for name, content in beside.items()
        ):
            return place
        number += 1


def _data(spec: str, place: str, files: dict[str, bytes]) -> str:
    """An argument, its file in the bundle if it is read from one."""
    found = _DATA.match(spec)
    if found is None:
        return spec
    file = Path(found[2].strip())
    content = _read(file)
    while files.get(f"{place}/{file.name}", content) != content:
        place += "/other"  # another file of that name is there: both keep theirs
    files[f"{place}/{file.name}"] = content
    return f"{found[1]}{place}/{file.name}"


def _free(name: str, content: bytes, files: dict[str, bytes]) -> str:
    """The content under this name, or under one like it where that is taken by another."""
    path, number = Path(name), 1
    while files.setdefault(name, content) != content:
        number += 1
        name = path.with_stem(f"{path.stem}-{number}").as_posix()
    return name


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


def _write(files: dict[str, bytes], path: Path) -> None:
    with whole(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(files.items()):
            archive.writestr(
                zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED
            )
