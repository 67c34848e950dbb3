"""docs/coverage.md, set from the rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from gpuviz.arch import architecture
from gpuviz.course import SCENES
from gpuviz.recordings.lookup import shipped
from tools.coverage.figure import Figure, System, systems
from tools.coverage.ladder import ladder, source

PAGE = Path(__file__).parent.parent.parent / "docs" / "coverage.md"

DOCUMENTS = {
    "S0": "“CUDA memory considerations”, a tutorial",
    "S1": "lecture slides on memory sharing, registers, coalescing and banks (G80)",
    "S2": "“CUDA 2da parte”, a lecture in Spanish (Tesla C2070, GF100, CC 2.0)",
    "S3": "“GPGPU programming: memory and data locality”, a university course",
    "S4": "“Threads and blocks in detail”, 2013 (GeForce 8600 GTS, CC 1.1)",
}
TABLES = {
    "A": "Thread organisation and limits",
    "B": "Occupancy",
    "C": "Global memory",
    "D": "Shared memory and constants",
    "E": "Matrix multiplication",
}
BEYOND = {
    "transpose": "coalescing and bank conflicts, which pull in different directions",
    "reduction": "a sum by pairs: divergence, bank conflicts and barriers in one kernel",
    "histogram": "atomic instructions, and giving each block a copy of the result",
    "fragments": "tensor cores: which lane holds which element, and how ldmatrix loads it",
    "caches": "what L1 and L2 keep of a naive product, and why tiles still win",
    "swizzle": "layouts of shared memory with and without conflicts, as CuTe and TMA write them",
    "pipeline": "asynchronous copies through a ring of stages, and the races of stages too early",
    "producer-consumer": "mbarriers, their phases and parity, and a stage given back too early",
    "ladder": "one product from the naive kernel up, an idea a rung, beside cuBLAS",
}
"""Lessons that lead on from the documents, and where to."""

_HEAD = ("System", "Documents", "Lesson", "Published", "Predicted", "Measured")


def page() -> str:
    """The whole page."""
    tables = (line for name in TABLES for line in _section(name))
    return "\n".join([*_opening(), *tables, *_beyond(), *_ladder()]) + "\n"


def _opening() -> Iterator[str]:
    yield "# What the lessons cover"
    yield ""
    yield "Every system of five teaching documents, the lesson that shows it, and three figures:"
    yield "what the document says, what gpuviz predicts for the lesson as it is shown, and what a"
    yield "GPU measured of that same launch. Predictions are for CC 9.0 unless the lesson column"
    yield "names another one. Made by `python -m tools.coverage`."
    yield ""
    yield from (f"- **{key}**: {name}" for key, name in DOCUMENTS.items())
    yield ""
    yield f"Measured: {_devices()}."


def _devices() -> str:
    """The recordings that the measured column is from."""
    found = {
        f"recorded on {one.device.name}, {entry.measurement.date}"
        for one in shipped().recordings
        for entry in one.entries[:1]
    }
    return ", ".join(sorted(found)) or "there is no recording"


def _section(table: str) -> Iterator[str]:
    yield from ("", f"## {table}. {TABLES[table]}", "")
    yield _line(_HEAD)
    yield _line(("---",) * len(_HEAD))
    for system in systems():
        if system.table == table:
            yield from map(_line, _cells(system))


def _cells(system: System) -> Iterator[tuple[str, ...]]:
    """One tuple a figure; the system is named once."""
    name, documents = system.name, ", ".join(system.documents)
    for figure in system.figures:
        yield (
            name,
            documents,
            where(figure),
            figure.published or "–",
            figure.prediction() or "–",
            figure.measurement(),
        )
        name = documents = ""


def where(figure: Figure) -> str:
    """The lesson, and what to choose in it."""
    parts = [f"`{figure.lesson}`"]
    if figure.preset:
        parts.append(figure.preset)
    if figure.of:
        parts.append(figure.of)
    parts += [f"{key} = {value}" for key, value in figure.settings.items()]
    if figure.arch != "sm_90":
        parts.append(f"CC {architecture(figure.arch).version}")
    return ", ".join(parts)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _beyond() -> Iterator[str]:
    yield from ("", "## Beyond the documents", "")
    there = {one.id for one in SCENES}
    yield from (f"- `{name}`: {what}" for name, what in BEYOND.items() if name in there)


def _ladder() -> Iterator[str]:
    """The rungs beside cuBLAS, if their times ship."""
    heading, *found = [*ladder()] or [()]
    if found:
        yield from ("", "## The ladder beside cuBLAS", "")
        yield f"{source()}: medians of launches turn by turn; the speed of a rung, that of cuBLAS"
        yield "for the same numbers in the same run (fp16: halves in, floats out), and the share."
        yield from ("", _line(heading), _line(("---",) * len(heading)), *map(_line, found))


def covered() -> set[str]:
    """The lessons that some row names."""
    return {figure.lesson for system in systems() for figure in system.figures}
