"""The code of a run as text with notes: its CUDA source, its PTX, its machine code."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from gpuviz.arch import architecture
from gpuviz.memory.counting import CountRow
from gpuviz.ptx.text.parser import parse
from gpuviz.results.quantities import per_request
from gpuviz.run.run import Run
from gpuviz.sass.listing import Listing, SassInstruction
from gpuviz.traces.check_table import name_of
from gpuviz.traces.trace import MemoryInstruction
from gpuviz.words.language import tr

FAULT = "▲ "  # before what is wrong with a line, whose note is in the colour of that
Notes = Mapping[int, tuple[str, str]]
Lines = Mapping[int, frozenset[int]]


@dataclass(frozen=True, eq=False)
class Code:
    """A text to show; lines are counted from 1.

    `notes` say what a line cost, in full and in brief; `lines` tells which lines of this text a
    CUDA line became; `missing` says why there is no text; `line_of` which line an instruction
    that was counted stands in, 0 for none.
    """

    text: str
    notes: Notes = field(default_factory=dict)
    lines: Lines = field(default_factory=dict)
    missing: str = ""
    line_of: Callable[[MemoryInstruction], int] = lambda instruction: instruction.line

    @cached_property
    def origin(self) -> Mapping[int, int]:
        """The CUDA line that each line of this text comes from, where it is known."""
        return {n: line for line, became in self.lines.items() for n in became}


def cuda(run: Run) -> Code:
    """The CUDA source; each line is itself."""
    text = run.trace.source.rstrip("\n")
    if not text:
        return Code("", missing=tr("This launch came as PTX: there is no CUDA source."))
    lines = {n: frozenset((n,)) for n in range(1, text.count("\n") + 2)}
    return Code(text, _with_faults(_notes(run, lambda at: at.line), run), lines)


def _with_faults(notes: Notes, run: Run) -> Notes:
    """Notes with what the checks found on a line before what it cost."""
    faults: dict[int, list[str]] = {}
    for one in run.trace.findings:
        if one.line and (name := name_of(one)) not in faults.setdefault(one.line, []):
            faults[one.line].append(name)
    made = dict(notes)
    for line, names in faults.items():
        more = f" +{len(names) - 1}" if len(names) > 1 else ""
        brief = f"{FAULT}{names[0]}{more}"
        cost = notes.get(line, ("", ""))[0]
        made[line] = (f"{brief} · {cost}" if cost else brief, brief)
    return made


def ptx(run: Run) -> Code:
    """The PTX text."""

    def line_of(at: MemoryInstruction) -> int:
        return at.ptx_line

    text = run.trace.ptx.rstrip("\n")
    return Code(text, _notes(run, line_of), ptx_lines(run.trace.ptx), line_of=line_of)


def sass(run: Run) -> Code:
    """The machine code, or why there is none."""
    if run.listing is None:
        return Code("", missing=_no_sass(run))
    rows = _sass_rows(run.listing)
    numbers = {id(i): n for n, (_, i) in enumerate(rows, 1) if i is not None}
    found: dict[int, set[int]] = {}
    for instruction in run.listing.instructions:
        found.setdefault(instruction.line, set()).add(numbers[id(instruction)])
    lines = {line: frozenset(at) for line, at in found.items() if line}
    places = _places(run.listing, numbers)

    def line_of(at: MemoryInstruction) -> int:
        return places.get((at.ptx_line, at.text), 0)

    text = "\n".join(text for text, _ in rows)
    return Code(text, _notes(run, line_of), lines, line_of=line_of)


def remarks(run: Run, line: int) -> str:
    """What the compiler changed at a CUDA line, in words; else what to know of the whole level."""
    here = dict.fromkeys(d.text for d in run.differences if d.line == line)
    if here:
        return tr("line {line}: {said}", line=line, said="; ".join(here))
    return run.level_note


def _no_sass(run: Run) -> str:
    if run.level_note:
        return tr("No machine code: {why}.", why=run.level_note.rstrip("."))
    return tr(
        "The counts are of the PTX as written. Choose SASS counts to see the machine code "
        "that the assembler makes of it."
    )


def _sass_rows(listing: Listing) -> list[tuple[str, SassInstruction | None]]:
    """Lines of text: labels, and instructions with their address."""
    rows: list[tuple[str, SassInstruction | None]] = []
    targets = {i.target for i in listing.instructions}
    for instruction in listing.instructions:
        if instruction.address in targets:
            rows.append((f"{listing.labels.get(instruction.address, '')}:", None))
        rows.append((f"    /*{instruction.address:04x}*/  {instruction.text}", instruction))
    return rows


def _places(listing: Listing, numbers: Mapping[int, int]) -> dict[tuple[int, str], int]:
    """The line of the first memory instruction with a PTX line and an opcode."""
    places: dict[tuple[int, str], int] = {}
    for i in listing.memory:
        places.setdefault((i.ptx_line, i.opcode), numbers[id(i)])
    return places


def read(runs: Iterable[Run]) -> None:
    """Know lines and colours of what a window shows of runs, in whatever thread: of 290 kB of PTX
    they take most of a second, for which the window would wait.
    """
    from gpuviz.results.highlighting import spans  # which needs all of Pygments

    for run in runs:
        ptx_lines(run.trace.ptx)
        for code, language in ((cuda(run), "cuda"), (ptx(run), "ptx"), (sass(run), "sass")):
            if code.text:
                spans(code.text, language)


@lru_cache(maxsize=32)
def ptx_lines(text: str) -> Lines:
    """For each CUDA line the lines of the PTX text that it became."""
    found: dict[int, set[int]] = {}
    for function in parse(text).functions:
        for instruction in function.body:
            found.setdefault(instruction.line, set()).add(instruction.ptx_line)
    return {line: frozenset(lines) for line, lines in found.items() if line}


def _notes(run: Run, line_of: Callable[[MemoryInstruction], int]) -> Notes:
    """What each line cost, in full and in brief."""
    sectors = architecture(run.arch).has_sectors
    by_line: dict[int, list[CountRow]] = {}
    for row in run.counts.rows:
        by_line.setdefault(line_of(row.instruction), []).append(row)
    return {line: _both(found, sectors) for line, found in by_line.items() if line}


def _both(rows: Iterable[CountRow], sectors: bool) -> tuple[str, str]:
    rows = tuple(rows)
    return per_request(rows, False, sectors), per_request(rows, True, sectors)
