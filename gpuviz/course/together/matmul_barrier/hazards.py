"""The races of a kernel in words: which lines race, and the first case of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gpuviz.panels.layout import Node, rows
from gpuviz.panels.lines import Heading, Line, Lines
from gpuviz.panels.panel import Answer
from gpuviz.ptx.checks.hazards import Hazard
from gpuviz.words.language import grouped, tr, trn

Name = Callable[[int], str]


def report(hazards: Sequence[Hazard], thread: Name, word: Name, warps: int) -> tuple[Node, Node]:
    """What the race check has found, kept back while a class is asked; and the same in few lines.

    `thread` and `word` name a thread of the block and a byte offset in shared memory.
    """
    told = [_hazard_lines(one, thread, word) for one in hazards]
    full, brief = [line for one in told for line in one], [one[0] for one in told]
    if not hazards:
        words = tr("No hazard: between two barriers no warp touches what another one writes.")
        if warps == 1:
            words = tr("No hazard: all threads of the block are in one warp.")
        full = brief = [Line((words,), "good")]
    head = Heading((tr("Race check of the kernel"), tr("Race check")), badge=tr("model"))
    first, second = (rows(Answer(head), Answer(Lines(tuple(said)))) for said in (full, brief))
    return first, second


def counted(hazards: Sequence[Hazard]) -> str:
    """`2 hazards`."""
    return trn("{n} hazard", "{n} hazards", len(hazards))


def _hazard_lines(hazard: Hazard, thread: Name, word: Name) -> tuple[Line, Line]:
    """Which lines, and the first case."""
    where: dict[str, object] = {"a": hazard.first.line, "b": hazard.second.line}
    lines = tr("lines {a} and {b}, {n} words", **where, n=grouped(hazard.count))
    one, two = map(thread, hazard.threads)
    who: dict[str, object] = {"one": one, "two": two, "slot": word(hazard.address)}
    kind, case = {
        "read after write": (
            tr("Read after write"),
            tr(
                "{one} writes {slot} and {two} of another warp reads it, with no barrier between.",
                **who,
            ),
        ),
        "write after read": (
            tr("Write after read"),
            tr(
                "{one} reads {slot} and {two} of another warp writes it, with no barrier between.",
                **who,
            ),
        ),
        "write after write": (
            tr("Write after write"),
            tr("{one} and {two} of another warp write {slot}, with no barrier between.", **who),
        ),
    }[hazard.kind]
    said = case[:1].upper() + case[1:]
    return Line((f"{kind}: {lines}",), "bad", bold=True), Line((said,), "muted")
