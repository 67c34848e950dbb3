"""gpuviz shows what a GPU's memory system makes of a real CUDA kernel.

The layers, lowest first; a file imports only from its own layer or a lower one:

base        errors (each names the thing, the value and the remedy), types of arrays, records in
            files, what ships, stopping and waiting
words       texts in the reader's language, the field's glossary, the terminal
files       read with a limit, written whole, named only where that is allowed; zips, NumPy's files,
            archives of both, checksums of what ships, what can be made again
processes   other programs, started safely; workers that answer requests; memory they may take
doctor      system libraries; desktop: gpuviz in the user's menus
arch        facts of each compute capability, each with its source; occupancy, roofline
arguments   a kernel's arguments as values: buffers, numbers, images, tensor maps
traces      the immutable record a run leaves behind: the seam between running and drawing; observe
            is the page of what can be observed while it runs
source      what CUDA text says: device code aside, types, names, constants, the host's launches
compile     CUDA C to PTX, cubin and log, through NVRTC
ptx         PTX text to a whole-launch SIMT emulation: text (read), arithmetic (what opcodes
            compute), tensor (fragments and sums of tensor cores), simt (the machine), decode
            (instructions to steps of it), checks (races and the like, as sinks), compiled (the same
            as machine code), equivalence (blocks that provably do the same), emulator
launch      a launch as its user asks for it: what a kernel takes, arguments as people write them,
            what is kept beside the file, limits
memory      requests to sectors, lines, wavefronts, per compute capability
sass        what the assembler made of the PTX: merged and removed accesses
timing      what a launch takes on a device, and why: one multiprocessor cycle by cycle, its caches,
            what limits
recordings  what a GPU said of launches, and the files that it is kept in
run         a launch run without a GPU: emulated, counted, its time predicted and explained
rewrites    changes of a kernel that may make it faster, each compiled, run and compared
gpu         a launch run on a GPU: the process that owns it, counters, whose code may run
sweeps      one or two things varied over many launches, here or on a cluster
draw        marks, palette and layout: a picture as data
panels      the parts pictures are made of: each draws values it is given
story       what a lesson is, and how it becomes a story; own_kernel: any kernel's run as one
course      the lessons: a chapter is a folder, a lesson a folder in it
views       what is shown: a lesson with its values at a moment, as a record, a link, a history
results     what runs come to: counts, times and code as rows, words and charts
assertions  claims about a run's counts, counts pinned in a file, reports for continuous integration
export      views to files
lectures    what is shown in which order, what a class is asked, what the speaker says
site        the course as pages: lessons for a grid of values, lectures, an index
qt          the window; the only folder that knows Qt
integrations  kernels of other libraries (Triton, Numba, CuPy, cuda.core) as launches
app, cli    entry points; api: that of Python, which this file offers; notebook: its magic and
            widget; agents: the server that answers them

From Python: docs/api.md. `import gpuviz` loads nothing but this file.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpuviz.api.expectation import expect as expect
    from gpuviz.api.launches import sweep as sweep
    from gpuviz.api.launches import verify as verify
    from gpuviz.api.lessons import Lesson as Lesson
    from gpuviz.api.lessons import Told as Told
    from gpuviz.api.lessons import explore as explore
    from gpuviz.api.lessons import lessons as lessons
    from gpuviz.api.picture import Picture as Picture
    from gpuviz.api.run import Run as Run
    from gpuviz.api.tracing import Traced as Traced
    from gpuviz.api.tracing import count as count
    from gpuviz.api.tracing import trace as trace
    from gpuviz.base.errors import Error as Error
    from gpuviz.results.table import Table as Table

__version__ = "0.2.0"

_FACE = {
    "Error": "base.errors",
    "Lesson": "api.lessons",
    "Picture": "api.picture",
    "Run": "api.run",
    "Table": "results.table",
    "Told": "api.lessons",
    "Traced": "api.tracing",
    "count": "api.tracing",
    "expect": "api.expectation",
    "explore": "api.lessons",
    "lessons": "api.lessons",
    "sweep": "api.launches",
    "trace": "api.tracing",
    "verify": "api.launches",
}
__all__ = [*_FACE, "__version__"]


def __getattr__(name: str) -> Any:
    """A name of the face, loaded when it is used."""
    if name not in _FACE:
        raise AttributeError(f"module 'gpuviz' has no attribute {name!r}")
    found = getattr(import_module(f"gpuviz.{_FACE[name]}"), name)
    globals()[name] = found
    return found


def load_ipython_extension(ipython: Any) -> None:
    """What `%load_ext gpuviz` calls: registers the magic `%%gpuviz` for cells of CUDA C."""
    import_module("gpuviz.notebook.magic").load(ipython)


def __dir__() -> list[str]:
    """The face, and what a module has."""
    return sorted({*globals(), *_FACE})
