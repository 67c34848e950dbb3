"""Kernels and traces of a lecture: files that lie beside it, and are named as seen from there."""

import shlex
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from gpuviz.arguments import parse, renamed
from gpuviz.base.errors import Error, InputError
from gpuviz.files.allowed_paths import Reach, local, whole_name
from gpuviz.lectures.lecture import Lecture
from gpuviz.story import traced
from gpuviz.story.kernel_launch import launch_of
from gpuviz.story.lesson import Plan, check_values
from gpuviz.views.make_view import lesson_for

KERNEL, TRACE = "kernel", "trace"
_KNOWN = (
    "file",
    "entry",
    "name",
    "grid",
    "block",
    "arguments",
    "shared",
    "defines",
    "options",
    "said",
)
Plain = Mapping[str, Any]
Launch = dict[str, int | str | bool]


def launch_in(plain: Plain, reach: Reach) -> Launch:
    """What a view's record has of a slide's kernel or trace; nothing for a lesson of the course.

    Raises
    ------
    Elsewhere : it names files beyond the lecture's reach, which are not looked at
    InputError : the file is not there, or something about it is not known
    """
    if TRACE in plain:
        file = _placed(str(plain[TRACE]), reach)
        reach.check("this slide", [file])
        return {traced.FILE: _there(file, "trace").as_posix()}
    return _kernel(plain[KERNEL], reach) if KERNEL in plain else {}


def told(launch: Mapping[str, int | str | bool], folder: Path) -> dict[str, Any]:
    """The keys of a slide for what `launch_in` found."""
    if traced.FILE in launch:
        return {TRACE: _seen(Path(str(launch[traced.FILE])).expanduser(), folder)}
    if launch:
        file = Path(str(launch["file"])).expanduser()
        return {KERNEL: {**launch, "file": _seen(file, folder)}}
    return {}


def files_of(launch: Mapping[str, int | str | bool]) -> frozenset[Path]:
    """The files that a view's record names, by whole names."""
    if not launch:
        return frozenset()
    if traced.FILE in launch:
        return frozenset((whole_name(traced.path_of(launch)),))
    found = launch_of(launch)
    files = [found.path]

    def keep(name: str) -> str:
        files.append(Path(name))
        return name

    moved(found.arguments, keep)
    return frozenset(map(whole_name, files))


def plain_values(given: Plain) -> Launch:
    """Numbers, texts, yes and no; InputError for anything else."""
    for key, value in given.items():
        if not isinstance(value, int | str | bool):
            raise InputError(f"{key} cannot be {value!r}: it is a number, a text, true or false")
    return dict(given)


def moved(specs: tuple[str, ...], how: Callable[[str], str]) -> tuple[str, ...]:
    """Arguments with the files that some are read from under other names.

    Raises
    ------
    InputError : an argument cannot be understood
    """
    return tuple(_moved(spec, how) for spec in specs)


def _moved(spec: str, how: Callable[[str], str]) -> str:
    try:
        found = parse(spec)
    except ValueError as error:  # a number of thousands of digits
        raise InputError(f"the argument {spec[:40]}… cannot be read: {error}") from None
    moved = renamed(found, how)
    return spec if moved == found else str(moved)


def _kernel(given: Plain, reach: Reach) -> Launch:
    """A launch with its file, and those that its arguments are read from, found."""
    for key in given:
        if key not in _KNOWN:
            raise InputError(f"{key} is not known of a kernel; known are: {', '.join(_KNOWN)}")
    launch = plain_values(given)
    if not launch.get("file"):
        raise InputError("a kernel without a file: it needs file, entry, grid, block")
    files = [_placed(str(launch["file"]), reach)]

    def place(name: str) -> str:
        files.append(_placed(name, reach))
        return files[-1].as_posix()

    there = shlex.join(moved(_split(str(launch.get("arguments", ""))), place))
    reach.check("this slide", files)
    found = _there(files[0], "kernel").as_posix()
    return {**launch, "file": found, **({"arguments": there} if there else {})}


def _split(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise InputError(f"arguments cannot be told apart: {error}, in {text[:80]}") from None


def _placed(name: str, reach: Reach) -> Path:
    """The file that a name means, as seen from the lecture's folder."""
    try:
        if "\0" in name:
            raise ValueError("a file name has no null in it")
        return reach.folder / Path(local(name, reach.folder)).expanduser()
    except (RuntimeError, ValueError) as error:  # nobody's home folder
        raise InputError(f"there is no file {name!r}: {error}") from None


def _there(file: Path, what: str) -> Path:
    try:
        if file.is_file():
            return file
    except (OSError, ValueError):  # no name of a file
        pass
    raise InputError(f"there is no {what} file {file}")


def _seen(file: Path, folder: Path) -> str:
    """A file's name as seen from the folder, where it lies in there."""
    return (file.relative_to(folder) if file.is_relative_to(folder) else file).as_posix()


def plans_of(lecture: Lecture) -> Iterator[Plan]:
    """What the slides launch of such kernels; a slide that cannot be shown launches nothing."""
    for slide in lecture.slides:
        if slide.view is None or not slide.view.launch or traced.FILE in slide.view.launch:
            continue
        try:
            lesson = lesson_for(slide.view)
            yield from lesson.plan(check_values(lesson, slide.view.values))
        except Error:
            continue
