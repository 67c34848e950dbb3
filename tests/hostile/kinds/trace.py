"""Saved traces: manifests, arrays and zips changed; opened, counted, told and drawn."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from gpuviz.arguments import materialise, parse
from gpuviz.base import resources
from gpuviz.ptx.emulator import Options, emulate
from gpuviz.ptx.text import parser
from gpuviz.traces import file as trace_file
from tests.hostile import arrays
from tests.hostile.kind import Kind


@cache
def a_trace() -> bytes:
    """What a launch of ours left behind."""
    module = parser.parse(resources.path("kernels/prebuilt/coalescing-971ca003.ptx").read_text())
    specs = ("f32[512]=rand", "f32[128]=zeros", "i32=2", "i32=0")
    given = [materialise(parse(spec), number) for number, spec in enumerate(specs)]
    options = Options(record=(0, 1), path=True)
    made = emulate(module, "strided", (2, 1, 1), (64, 1, 1), given, options=options, arch="sm_90")
    with TemporaryDirectory() as folder:
        file = Path(folder) / "t.gputrace"
        trace_file.save(made.trace, file)
        return file.read_bytes()


def make(random: Random) -> bytes:
    """A file like it."""
    return arrays.changed(random, a_trace())


def shown(file: Path) -> None:
    """As the window shows it: the lesson made of it, three moments of its story."""
    from gpuviz.export.reading import read_any
    from gpuviz.story.lesson import Lesson
    from gpuviz.story.traced import record_of
    from gpuviz.views.provenance import Provenance

    if isinstance(read_any(file), Lesson):
        draw(Provenance("", {}, "sm_90", launch=record_of(file)))


def draw(wanted: object) -> None:
    """The picture of a view at the beginning, in the middle and at the end."""
    from gpuviz.export.save import save
    from gpuviz.views.make_view import timed, view_of
    from gpuviz.views.provenance import Provenance

    assert isinstance(wanted, Provenance)
    view = view_of(wanted)
    for share in (0.0, 0.5, 1.0):
        save(timed(view, share * view.story.duration), Path("out.svg"))
    save(view, Path("out.json"))


KIND = Kind("trace", 180, ".gputrace", make, calls=(shown,))
