"""The lessons, in course order. One lesson is one file and one line here.

A lesson's module is imported when the lesson is opened: a window that lists all lessons is shown
before any of them is there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING

from gpuviz.errors import InputError

if TYPE_CHECKING:
    from gpuviz.scenes.base import Lesson

    SCENES: tuple[Lesson, ...]


@dataclass(frozen=True)
class Listed:
    """A lesson as a list shows it, and how it is opened."""

    id: str
    title: str
    chapter: str
    open: Callable[[], Lesson]

    @classmethod
    def of(cls, lesson: Lesson) -> Listed:
        """A lesson that is there already."""
        return cls(lesson.id, lesson.title, lesson.chapter, lambda: lesson)


# By chapter, the ids of lessons and their titles; the module of `block-shape` is `block_shape`.
_COURSE = {
    "Organisation": {
        "hierarchy": "Threads, warps, lanes",
        "chip": "A launch on the chip",
        "launch-limits": "Limits and launches",
    },
    "Global memory": {
        "coalescing": "Coalescing",
        "alignment": "Structs: alignment and arrays",
        "square-array": "Strides, offsets, groups",
        "divergence": "Divergence",
        "matrix-layout": "Matrix layout",
    },
    "Shared memory": {
        "banks": "Shared memory banks",
        "transpose": "Matrix transpose",
        "constant-memory": "Constant memory",
        "memory-spaces": "Memory spaces",
    },
    "Putting it together": {
        "matmul-naive": "Matmul: naive",
        "matmul-tiled": "Matmul: tiled",
        "caches": "Caches",
        "matmul-boundary": "Matmul: boundaries",
        "matmul-barrier": "Matmul: barriers",
        "block-shape": "Block shapes",
        "thread-coarsening": "Several cells a thread",
        "occupancy": "Occupancy",
        "latency": "Latency and what hides it",
        "ilp-tlp": "ILP against TLP",
        "roofline": "Roofline",
        "reduction": "Reduction",
        "histogram": "Histogram",
    },
    "Modern matrix products": {
        "fragments": "Fragments of tensor cores",
        "swizzle": "Layouts and swizzles",
        "pipeline": "Pipelines of copies",
        "producer-consumer": "Producer and consumers",
        "ladder": "The ladder to cuBLAS",
    },
}


@cache
def lesson(name: str) -> Lesson:
    """The lesson of an id.

    Raises
    ------
    InputError : there is no such lesson
    """
    if not any(name in titles for titles in _COURSE.values()):
        known = ", ".join(one.id for one in COURSE)
        raise InputError(f"there is no lesson {name!r}; the lessons are: {known}")
    found: Lesson = import_module(f"{__name__}.{name.replace('-', '_')}").LESSON
    return found


COURSE: tuple[Listed, ...] = tuple(
    Listed(id, title, chapter, partial(lesson, id))
    for chapter, titles in _COURSE.items()
    for id, title in titles.items()
)


def __getattr__(name: str) -> tuple[Lesson, ...]:
    """`SCENES`, all lessons of the course, imported when they are asked for."""
    if name != "SCENES":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return tuple(one.open() for one in COURSE)
