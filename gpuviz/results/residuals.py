"""Why a counter of the hardware may differ from what the model predicts, in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gpuviz.memory.counts import find
from gpuviz.memory.metrics import Hardware
from gpuviz.results.badges import together
from gpuviz.results.count_columns import Readout, Sheet, signed
from gpuviz.results.quantities import Row
from gpuviz.run.run import Run
from gpuviz.words.language import tr, trn

_UNPREDICTED = Hardware("")
_FEW = 3  # runs that are named one by one


@dataclass(frozen=True)
class Verdict:
    """Predictions against measurements in a sentence, and whether all of them are equal."""

    text: str
    equal: bool


def verdict(sheet: Sheet, run: int, source: Run) -> Verdict | None:
    """What the residuals of a run say; None when nothing was measured."""
    found: Readout | None = sheet.measured.get(sheet.runs[run])
    if found is None or not found.values:
        return None
    if sheet.foreign(run):
        said = tr(
            "{caption} ({arch}), predicted for {other}: not compared",
            caption=found.caption,
            arch=found.sm,
            other=source.arch,
        )
        return Verdict(said, True)
    compared = [
        (row, r)
        for row in sheet.rows
        if not (row.derived or row.modelled) and (r := sheet.residual(row, run)) is not None
    ]
    if not compared:
        return None
    unequal = [(row, r) for row, r in compared if r]
    if not unequal:
        said = trn(
            "{caption}: {n} counter, equal",
            "{caption}: all {n} counters equal",
            len(compared),
            caption=found.caption,
        )
        return Verdict(said, True)
    said = trn(
        "{caption}: {some} of {n} counter differs",
        "{caption}: {some} of {n} counters differ",
        len(compared),
        caption=found.caption,
        some=len(unequal),
    )
    return Verdict("\n".join([said, *_sentences(unequal, source)]), False)


def _sentences(unequal: Sequence[tuple[Row, float]], run: Run) -> list[str]:
    """One sentence a cause, with the rows it explains."""
    by_cause: dict[str, list[str]] = {}
    for row, residual in unequal:
        by_cause.setdefault(cause(row.key, run), []).append(f"{row.label} {signed(residual)}")
    return [f"{', '.join(rows)}: {why}" for why, rows in by_cause.items()]


def cause(key: str, run: Run) -> str:
    """The best known reason why a counter of a run is not as predicted."""
    trace = run.trace
    if trace.blocks_emulated < trace.launch.blocks:
        return tr(
            "only {done} of {blocks} blocks were executed for the prediction",
            done=trace.blocks_emulated,
            blocks=trace.launch.blocks,
        )
    if run.level == "ptx":
        return tr(
            "the counts are of the PTX as written, and the assembler may merge or remove accesses"
        )
    count = find(key)
    counter = (count.on_gpu if count else None) or _UNPREDICTED
    return tr(counter.cause)


def all_verdicts(sheet: Sheet, runs: Mapping[str, Run], titles: Mapping[str, str]) -> list[Verdict]:
    """The verdicts on the runs with a title that were measured, named when there are several, each
    once with all runs of which it is true.
    """
    found = {
        title: one
        for key, title in titles.items()
        if (one := verdict(sheet, sheet.runs.index(key), runs[key])) is not None
    }
    if len(titles) < 2:
        return list(found.values())
    equal = {one.text: one.equal for one in found.values()}
    each = together({title: one.text for title, one in found.items()})
    if len(each) == 1 and len(found) == len(titles) > _FEW:
        each = [(tr("all"), each[0][1])]
    return [Verdict(f"{names}: {text}", equal[text]) for names, text in each]
