"""From what a view is made of to the view: performs the lesson, once or for two variants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from os.path import isfile
from pathlib import Path
from typing import TYPE_CHECKING, cast

from gpuviz.arch import architecture
from gpuviz.base.errors import InputError
from gpuviz.course import lesson
from gpuviz.draw.palette import THEMES
from gpuviz.run.run import Level, Run
from gpuviz.run.session import Library
from gpuviz.story import traced
from gpuviz.story.exhibit import Variant, showing
from gpuviz.story.kernel_launch import launch_of
from gpuviz.story.lesson import Lesson, check_values
from gpuviz.story.own_kernel.story import lesson_of
from gpuviz.traces.check_table import ALL
from gpuviz.views.lesson_view import View, explained_of
from gpuviz.views.provenance import Provenance
from gpuviz.views.state import LEVELS
from gpuviz.words import language

if TYPE_CHECKING:
    from gpuviz.story.perform import Performance

SMALLEST, LARGEST = (320, 200), 16384
SMALLEST_LETTERS, LARGEST_LETTERS = 0.1, 100.0


def view_of(
    wanted: Provenance,
    library: Library | None = None,
    told: Lesson | None = None,
    plot: Lesson | None = None,
) -> View:
    """The view that a record describes; its values may be texts, and times beyond the story's end.

    Launches are looked up in `library`, by default in what ships; `told` stands for the lesson,
    where it is told in another way, and `plot` beside it, with the same values.

    Raises
    ------
    InputError : a lesson, value, theme, size or level that there is not
    UnavailableError, CompileError, KernelFault : from the runs
    """
    check_stage(wanted)
    variants = variants_of(wanted, library, told, plot)
    shown = showing(variants, tuple(map(_perform, variants)))
    made = replace(
        wanted,
        values=variants[0].values,
        compare_values=variants[-1].values if wanted.compared else {},
        badges=badges(shown.runs),
        language=language.chosen(),
    )
    explain = partial(explained_of, shown)
    return timed(View(shown.story, shown.runs, made, explain), made.time, made.end)


def variants_of(
    wanted: Provenance,
    library: Library | None = None,
    told: Lesson | None = None,
    plot: Lesson | None = None,
) -> tuple[Variant, ...]:
    """What a record has performed: a variant, or two beside each other; the others as for
    `view_of`.

    Raises
    ------
    InputError : a lesson or a value that there is not
    """
    chosen, level = told or lesson_for(wanted), cast(Level, wanted.level)
    values = check_values(chosen, wanted.values)
    checks = ALL if wanted.launch else ()  # as the window looks, unless its user says otherwise
    a = Variant(chosen, values, wanted.arch, level, library=library, checks=checks)
    if not wanted.compared:
        return (a,) if plot is None else (a, replace(a, lesson=plot))
    other = beside_for(wanted)
    said = wanted.compare_values if other else {**values, **wanted.compare_values}
    changed = check_values(other or chosen, said)
    arch = wanted.compare_arch or wanted.arch
    return a, replace(a, lesson=other or chosen, values=changed, arch=arch)


def lesson_for(wanted: Provenance) -> Lesson:
    """The lesson that a record names, or the one made of the kernel or the trace that it names.

    Raises
    ------
    InputError : there is no such lesson, or the launch or the trace cannot be read
    """
    if traced.FILE in wanted.launch:
        return traced.lesson_of(traced.path_of(wanted.launch))
    if wanted.launch:
        return lesson_of(launch_of(wanted.launch))
    if not wanted.lesson:
        raise InputError("this is a slide of words: there is no view to show")
    return lesson(wanted.lesson)


def beside_for(wanted: Provenance) -> Lesson | None:
    """The lesson of the variant beside the one that a record names, None where it is the same.

    Raises
    ------
    InputError : there is no such lesson, or the launch cannot be read
    """
    if not wanted.compare_lesson:
        return None
    return lesson_for(replace(wanted, lesson=wanted.compare_lesson, launch=wanted.compare_launch))


def timed(view: View, time: float, end: float = 0.0) -> View:
    """The view at other times, moved into the story; `end` before `time` means a moment."""
    last = view.story.duration
    start = min(max(time, 0.0), last)
    made = replace(view.provenance, time=start, end=min(max(end, start), last))
    return replace(view, provenance=made)


def badges(runs: Mapping[str, Run]) -> dict[str, str]:
    """What kind of numbers a view shows: those of the model, and what a GPU measured."""
    found = [run.measurement for run in runs.values()]
    found += [run.companion.measurement for run in runs.values() if run.companion]
    captions = {one.caption for one in found if one is not None}
    counts = "; ".join(sorted({run.modelled for run in runs.values()})) or "modelled"
    return {"counts": counts, **({"measured": "; ".join(sorted(captions))} if captions else {})}


def check_stage(wanted: Provenance) -> None:
    """InputError when the theme, the level or the size cannot be."""
    if wanted.theme not in THEMES:
        raise InputError(f"there is no theme {wanted.theme!r}; there are: {', '.join(THEMES)}")
    _check_level(wanted.level)
    if not SMALLEST_LETTERS <= wanted.letters <= LARGEST_LETTERS:
        raise InputError(
            f"letters enlarged {wanted.letters:g} times: from {SMALLEST_LETTERS:g} to "
            f"{LARGEST_LETTERS:g}"
        )
    size, (width, height) = (wanted.width, wanted.height), SMALLEST
    if size[0] < width or size[1] < height or max(size) > LARGEST:
        raise InputError(
            f"--size {size[0]}x{size[1]}: from {width}x{height} to {LARGEST}x{LARGEST} pixels"
        )


def _check_level(level: str) -> None:
    if level not in LEVELS:
        raise InputError(f"there is no level {level!r}; there are: {', '.join(LEVELS)}")


def _perform(variant: Variant) -> Performance:
    from gpuviz.story.perform import perform  # a record of a view needs no compiler

    return perform(
        variant.lesson,
        variant.values,
        arch=variant.arch,
        level=variant.level,
        library=variant.library,
        checks=variant.checks,
    )


def fitted(wanted: Provenance, lesson: Lesson, beside: Lesson | None = None) -> Provenance:
    """The record with every value said, and as its parameter's own kind; `beside` is the lesson of
    the variant beside it, where that is another.

    Raises
    ------
    InputError : a value, architecture or level that there is not
    """
    values = check_values(lesson, wanted.values)
    said = wanted.compare_values if beside else {**values, **wanted.compare_values}
    others = check_values(beside or lesson, said)
    for sm in filter(None, (wanted.arch, wanted.compare_arch)):
        architecture(sm)
    _check_level(wanted.level)
    return replace(
        wanted, lesson=lesson.id, values=values, compare_values=others if wanted.compared else {}
    )


def check_file(view: Provenance) -> None:
    """InputError when the view is of a kernel or trace of the user's own whose file is gone."""
    file = missing(view)
    if file is not None:
        what = "trace" if traced.FILE in view.launch else "kernel"
        raise InputError(
            f"the {what} of this view is gone: there is no file {str(file)[:300]}. "
            f"Put it back there, or open the {what} where it is now (Ctrl+O)"
        )


def missing(view: Provenance) -> Path | None:
    """The user's own file that the view needs and that is not there; None when nothing is missing.

    Raises
    ------
    InputError : the record of the launch cannot be read
    """
    if not view.launch:
        return None
    own = traced.path_of(view.launch) if traced.FILE in view.launch else launch_of(view.launch).path
    return None if isfile(own) else own  # of a name that no file can have `Path.is_file` raises
