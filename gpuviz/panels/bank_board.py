"""Under the banks: wavefronts so far and how few there could be, what they come of, a mark each."""

from gpuviz.draw.ease import passed
from gpuviz.memory.bank_request import BankRequest
from gpuviz.memory.units import counted
from gpuviz.panels.bank_map import BankMap, lanes_named
from gpuviz.panels.figures import Figure, FigureRow, TextLine
from gpuviz.panels.layout import Line, rows
from gpuviz.panels.panel import Answer
from gpuviz.panels.ticks import Ticks
from gpuviz.words.language import tr


def with_board(shown: BankMap, request: BankRequest, served: float, *more: Figure) -> Line:
    """A bank map over the board of a request, of which so many wavefronts are over.

    `more` are figures to stand beside its counters.
    """
    fine = request.count <= request.ideal
    done = tr("{done} of {all}", done=passed(served), all=counted("wavefront", request.count))
    brief = tr("{done} of {all}", done=passed(served), all=request.count)
    counters = (
        Figure(done, "good" if fine else "accent", True, shorter=(brief,)),
        Figure(tr("ideal {count}", count=request.ideal), "muted"),
        *more,
    )
    return rows(
        shown,
        FigureRow(counters),
        Answer(TextLine(_cause(request, served), "warn" if request.worst else "muted")),
        Ticks(request.count, request.ideal, served),
    )


def _cause(request: BankRequest, served: float) -> tuple[str, ...]:
    """Why it takes as many wavefronts as it does, the longest wording first."""
    grouped = _group(request, served)
    if request.worst is None:
        short = tr("no bank conflict")
        shared = tr("no bank conflict: a word that several lanes want is fetched once")
        plain = shared if request.brought.shared.any() else short
        return (f"{plain} · {grouped}", plain, short) if grouped else (plain,)
    ways = tr(
        "{ways}-way conflict in bank {bank}", ways=request.worst.degree, bank=request.worst.bank
    )
    plain = f"{ways}: {lanes_named(request.worst.lanes)}"
    return (f"{plain} · {grouped}", plain, ways) if grouped else (plain, ways)


def _group(request: BankRequest, served: float) -> str:
    """Which group of lanes is being served, where there are several."""
    if len(request.groups) < 2:
        return ""
    group = request.group_of(min(int(served), request.count - 1))
    if served <= 0 or served >= request.count or group < 0:
        return tr("{count} groups of lanes, one after the other", count=len(request.groups))
    return tr(
        "group {number} of {count}: {lanes}",
        number=group + 1,
        count=len(request.groups),
        lanes=lanes_named(request.groups[group]),
    )
