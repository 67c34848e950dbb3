"""The accesses of a launch that cost more than they have to, for the list of what was found."""

from dataclasses import dataclass

from gpuviz.base.keeping import kept_with_first
from gpuviz.memory.line_costs import AccessCost, line_costs
from gpuviz.memory.units import OPS
from gpuviz.run.run import Run
from gpuviz.words.language import fine_percent, tr

_LEAST = 0.02  # of all lines' cost: what is less is not worth a change
_WORTH = 1.1  # times the ideal, likewise
_MOST = 8


@dataclass(frozen=True, eq=False)
class Costly:
    """An access in words, longest first: what it is (`names`), which line, and how much of what all
    lines cost (`where`), what to change first (`title`).
    """

    access: AccessCost
    names: tuple[str, ...]
    where: tuple[str, ...]
    title: str


@kept_with_first(4)
def costly(run: Run) -> tuple[Costly, ...]:
    """The worst of each kind on each line, those that would save most first."""
    found: dict[tuple[int, str, str], Costly] = {}
    for line in line_costs(run.trace, run.counts):
        for access in line.accesses:
            dear = access.cost > _WORTH * access.ideal
            wrong = dear and access.wasteful
            if line.line and wrong and line.share >= _LEAST:
                kind = access.instruction.space, access.reason.kind
                found.setdefault((line.line, *kind), _costly(access, line.share))
    return tuple(sorted(found.values(), key=lambda one: -one.access.excess)[:_MOST])


def _costly(access: AccessCost, share: float) -> Costly:
    at, part = access.instruction, fine_percent(share)
    kind, line = f"{at.space} {tr(OPS[at.op])}", tr("line {n}", n=at.line)
    told = tr("{share} of what all lines cost", share=part)
    where = f"{line} · {told}", f"{line} · {part}", line
    if not access.ideal:
        return Costly(access, (kind,), where, tr("Line {n}: {access}", n=at.line, access=kind))
    times = f"{access.cost / access.ideal:.3g} ×"
    title = tr("Line {n} costs {times} what it could", n=at.line, times=times)
    return Costly(
        access, (tr("{access}: {times} the least", access=kind, times=times), kind), where, title
    )
