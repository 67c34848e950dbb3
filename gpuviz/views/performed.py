"""From what a view is made of to the view: performs the lesson, once or for two variants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from gpuviz import language
from gpuviz.arch import architecture
from gpuviz.draw.palette import THEMES
from gpuviz.errors import InputError
from gpuviz.runners.base import Level, Run
from gpuviz.runners.session import Library
from gpuviz.scenes import lesson, traced
from gpuviz.scenes.base import Lesson, Values
from gpuviz.scenes.compare import SIDES, beside, name_of
from gpuviz.scenes.kernel import launch_of, lesson_of
from gpuviz.scenes.perform import Performance, check_values, perform
from gpuviz.views.lesson_view import View
from gpuviz.views.provenance import Provenance

SMALLEST, LARGEST = (320, 200), 16384
SMALLEST_LETTERS, LARGEST_LETTERS = 0.1, 100.0


def view_of(wanted: Provenance, library: Library | None = None) -> View:
    """The view that a record describes; its values may be texts, and times beyond the story's end.

    Launches are looked up in `library`, by default in what ships.

    Raises
    ------
    InputError : a lesson, value, theme, size or level that there is not
    UnavailableError, CompileError, KernelFault : from the runs
    """
    check_stage(wanted)
    chosen = lesson_for(wanted)
    values = check_values(chosen, wanted.values)
    first = _perform(chosen, wanted, values, wanted.arch, library)
    made = replace(wanted, values=values, badges=badges(first.runs), language=language.chosen())
    if not wanted.compared:
        return timed(View(first.story, first.runs, made), made.time, made.end)
    changed = check_values(chosen, {**values, **wanted.compare_values})
    arch = wanted.compare_arch or wanted.arch
    second = _perform(chosen, wanted, changed, arch, library)
    names = [name_of(chosen, values, changed), name_of(chosen, changed, values)]
    if wanted.compare_arch:
        names = [
            f"{name}, {architecture(sm)}"
            for name, sm in zip(names, (wanted.arch, arch), strict=True)
        ]
    made = replace(made, compare_values=changed)
    both = View(beside(first.story, second.story, *names), _both(first.runs, second.runs), made)
    return timed(both, made.time, made.end)


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


def timed(view: View, time: float, end: float = 0.0) -> View:
    """The view at other times, moved into the story; `end` before `time` means a moment."""
    last = view.story.duration
    start = min(max(time, 0.0), last)
    made = replace(view.provenance, time=start, end=min(max(end, start), last))
    return replace(view, provenance=made)


def badges(runs: Mapping[str, Run]) -> dict[str, str]:
    """What kind of numbers a view shows: those of the model, and what a GPU measured."""
    captions = {run.measurement.caption for run in runs.values() if run.measurement is not None}
    return {"counts": "modelled", **({"measured": "; ".join(sorted(captions))} if captions else {})}


def check_stage(wanted: Provenance) -> None:
    """InputError when the theme, the level or the size cannot be."""
    if wanted.theme not in THEMES:
        raise InputError(f"there is no theme {wanted.theme!r}; there are: {', '.join(THEMES)}")
    if wanted.level not in ("sass", "ptx"):
        raise InputError(f"there is no level {wanted.level!r}; there are: sass, ptx")
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


def _perform(
    chosen: Lesson, wanted: Provenance, values: Values, arch: str, library: Library | None
) -> Performance:
    return perform(chosen, values, arch=arch, level=cast(Level, wanted.level), library=library)


def _both(a: Mapping[str, Run], b: Mapping[str, Run]) -> dict[str, Run]:
    """The runs of both sides, named as the steps of a compared story name them."""
    return {
        f"{side} {role}".strip(): run
        for side, runs in zip(SIDES, (a, b), strict=True)
        for role, run in runs.items()
    }
