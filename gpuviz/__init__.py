"""gpuviz shows what a GPU's memory system makes of a real CUDA kernel.

The layers, lowest first; a file imports only from its own layer or a lower one:

errors      what can go wrong, each with the thing, the value and the remedy
            beside it: arrays (types of arrays), resources (files that ship), folders (of the user),
            files (written whole), text_file (as it is edited), checksums (of what ships), bounded
            (files read with a limit; zips and npy likewise), free_memory and heap, disk_cache
            (what can be made again), local (paths that a file names) and reach (which of them it
            may name), records (in files) and archive (with arrays, in a zip), language (texts in
            the reader's language), glossary
            (the field's words), checks (what is looked for in a launch), fuzzy (finding by
            letters), suffixes (of files), toml_text, processes (other programs, started safely),
            worker_process (one that answers requests), stopping (work nobody wants any more),
            waiting (for work under way), layouts (shape:stride, and swizzles), doctor (system
            libraries), terminal (where texts go to it), desktop (gpuviz in the user's
            menus, its files opened by a click)
arch        facts of each compute capability, each with its source
traces      the immutable record a run leaves behind: the seam between running and drawing
            (trace_file saves and loads it; observe is the page of what can be observed while it
            runs; arguments are kernel arguments as text)
compile     CUDA C to PTX, cubin and log, through NVRTC
ptx         PTX text to a whole-launch SIMT emulation: text (read), arithmetic (what opcodes
            compute), tensor (fragments and sums of tensor cores), simt (the machine), decode
            (instructions to steps of it), checks
            (races and the like, as sinks), compiled (the same as machine code), emulator
kernels     a kernel file as its user opens it: what its kernels take, arguments as people write
            them, what is kept beside the file
memory      requests to sectors, lines, wavefronts, per compute capability
sass        what the assembler made of the PTX: merged and removed accesses
occupancy   what limits the resident blocks of a multiprocessor; roofline: what bandwidth and
            arithmetic allow
machine     what a launch takes on a device, and why: one multiprocessor cycle by cycle, its caches,
            what limits
runners     launch a kernel: emulated, recorded, or on a GPU; session: what has been opened
            beside it: sweeps (one or two things varied over many launches, here or on a cluster)
draw        marks, palette and layout: a picture as data
panels      the parts pictures are made of: each draws values it is given
scenes      the lessons, one a file
views       what is shown: a lesson with its values at a moment, as a record, a link, a history
results     what runs come to: counts, times and code as rows, words and charts
export      views to files
lectures    what is shown in which order, what a class is asked, what the speaker says
site        the course as pages: lessons for a grid of values, lectures, an index
qt          the window; the only folder that knows Qt
integrations  kernels of other libraries (Triton, Numba, CuPy, cuda.core) as launches
app, cli    entry points; api: that of Python, which this file offers; notebook: its magic and
            widget; prebuild compiles the lessons' kernels for machines that cannot; translation
            collects the texts people read; coverage holds the lessons against the documents they
            come from

From Python: docs/api.md. `import gpuviz` loads nothing but this file.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpuviz.api.exploring import explore as explore
    from gpuviz.api.lessons import Lesson as Lesson
    from gpuviz.api.lessons import Told as Told
    from gpuviz.api.lessons import lessons as lessons
    from gpuviz.api.picture import Picture as Picture
    from gpuviz.api.run import Run as Run
    from gpuviz.api.sweeping import sweep as sweep
    from gpuviz.api.table import Table as Table
    from gpuviz.api.traced import Traced as Traced
    from gpuviz.api.tracing import count as count
    from gpuviz.api.tracing import trace as trace
    from gpuviz.api.verifying import verify as verify
    from gpuviz.errors import Error as Error

__version__ = "0.2.0"

_FACE = {
    "Error": "errors",
    "Lesson": "api.lessons",
    "Picture": "api.picture",
    "Run": "api.run",
    "Table": "api.table",
    "Told": "api.lessons",
    "Traced": "api.traced",
    "count": "api.tracing",
    "explore": "api.exploring",
    "lessons": "api.lessons",
    "sweep": "api.sweeping",
    "trace": "api.tracing",
    "verify": "api.verifying",
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
