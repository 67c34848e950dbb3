"""The lessons, in course order: a chapter is a folder, a lesson a folder in it and one line here.

A lesson's module is imported when the lesson is opened: a window that lists all lessons is shown
before any of them is there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING

from gpuviz.base.errors import InputError

if TYPE_CHECKING:
    from gpuviz.story.lesson import Lesson

    SCENES: tuple[Lesson, ...]


@dataclass(frozen=True)
class LessonEntry:
    """A lesson as a list shows it, and how it is opened."""

    id: str
    title: str
    chapter: str
    open: Callable[[], Lesson]

    @classmethod
    def of(cls, lesson: Lesson) -> LessonEntry:
        """A lesson that is there already."""
        return cls(lesson.id, lesson.title, lesson.chapter, lambda: lesson)


# By chapter, its folder and its lessons: their ids and titles. The lesson `block-shape` of the
# chapter in `together` is in `course/together/block_shape/lesson.py`.
_COURSE = {
    ("Organisation", "organisation"): {
        "hierarchy": "Threads, warps, lanes",
        "chip": "A launch on the chip",
        "launch-limits": "Limits and launches",
    },
    ("Global memory", "global_memory"): {
        "coalescing": "Coalescing",
        "alignment": "Structs: alignment and arrays",
        "square-array": "Strides, offsets, groups",
        "divergence": "Divergence",
        "matrix-layout": "Matrix layout",
    },
    ("Shared memory", "shared_memory"): {
        "banks": "Shared memory banks",
        "transpose": "Matrix transpose",
        "constant-memory": "Constant memory",
        "memory-spaces": "Memory spaces",
    },
    ("Putting it together", "together"): {
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
    ("Modern matrix products", "matrix_products"): {
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
    folder = next((folder for (_, folder), titles in _COURSE.items() if name in titles), "")
    if not folder:
        known = ", ".join(one.id for one in COURSE)
        raise InputError(f"there is no lesson {name!r}; the lessons are: {known}")
    module = f"{__name__}.{folder}.{name.replace('-', '_')}.lesson"
    found: Lesson = import_module(module).LESSON
    return found


COURSE: tuple[LessonEntry, ...] = tuple(
    LessonEntry(id, title, chapter, partial(lesson, id))
    for (chapter, _), titles in _COURSE.items()
    for id, title in titles.items()
)


def named(module: str) -> tuple[str, str, str]:
    """The id, the title and the chapter of the lesson that a module is, as the table has them."""
    id = module.split(".")[-2].replace("_", "-")
    return next((one.id, one.title, one.chapter) for one in COURSE if one.id == id)


def __getattr__(name: str) -> tuple[Lesson, ...]:
    """`SCENES`, all lessons of the course, imported when they are asked for."""
    if name != "SCENES":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return tuple(one.open() for one in COURSE)
