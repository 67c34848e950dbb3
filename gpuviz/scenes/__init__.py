"""The lessons, in course order. One lesson is one file and one line here."""

from gpuviz.errors import InputError
from gpuviz.scenes.alignment import LESSON as ALIGNMENT
from gpuviz.scenes.banks import LESSON as BANKS
from gpuviz.scenes.base import Lesson
from gpuviz.scenes.block_shape import LESSON as BLOCK_SHAPE
from gpuviz.scenes.coalescing import LESSON as COALESCING
from gpuviz.scenes.constant_memory import LESSON as CONSTANT_MEMORY
from gpuviz.scenes.divergence import LESSON as DIVERGENCE
from gpuviz.scenes.hierarchy import LESSON as HIERARCHY
from gpuviz.scenes.histogram import LESSON as HISTOGRAM
from gpuviz.scenes.ilp_tlp import LESSON as ILP_TLP
from gpuviz.scenes.launch_limits import LESSON as LAUNCH_LIMITS
from gpuviz.scenes.matmul_barrier import LESSON as MATMUL_BARRIER
from gpuviz.scenes.matmul_boundary import LESSON as MATMUL_BOUNDARY
from gpuviz.scenes.matmul_naive import LESSON as MATMUL_NAIVE
from gpuviz.scenes.matmul_tiled import LESSON as MATMUL_TILED
from gpuviz.scenes.matrix_layout import LESSON as MATRIX_LAYOUT
from gpuviz.scenes.memory_spaces import LESSON as MEMORY_SPACES
from gpuviz.scenes.occupancy import LESSON as OCCUPANCY
from gpuviz.scenes.reduction import LESSON as REDUCTION
from gpuviz.scenes.roofline import LESSON as ROOFLINE
from gpuviz.scenes.square_array import LESSON as SQUARE_ARRAY
from gpuviz.scenes.thread_coarsening import LESSON as THREAD_COARSENING
from gpuviz.scenes.transpose import LESSON as TRANSPOSE

SCENES: tuple[Lesson, ...] = (
    HIERARCHY,
    LAUNCH_LIMITS,
    COALESCING,
    ALIGNMENT,
    SQUARE_ARRAY,
    DIVERGENCE,
    MATRIX_LAYOUT,
    BANKS,
    TRANSPOSE,
    CONSTANT_MEMORY,
    MEMORY_SPACES,
    MATMUL_NAIVE,
    MATMUL_TILED,
    MATMUL_BOUNDARY,
    MATMUL_BARRIER,
    BLOCK_SHAPE,
    THREAD_COARSENING,
    OCCUPANCY,
    ILP_TLP,
    ROOFLINE,
    REDUCTION,
    HISTOGRAM,
)


def lesson(name: str) -> Lesson:
    """The lesson of an id.

    Raises
    ------
    InputError : there is no such lesson
    """
    found = next((one for one in SCENES if one.id == name), None)
    if found is None:
        known = ", ".join(one.id for one in SCENES)
        raise InputError(f"there is no lesson {name!r}; the lessons are: {known}")
    return found
