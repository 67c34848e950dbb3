"""Time, traffic of caches and waits as rows of the counts panel: modelled, where that was found
out."""

from collections.abc import Mapping, Sequence

from gpuviz.panels.limit_words import interval_values, model_note
from gpuviz.recordings.stall_reasons import ALL, KEYS, PREFIX
from gpuviz.results.quantities import Row
from gpuviz.run.stalls import modelled
from gpuviz.timing.explanation import Explanation
from gpuviz.words.language import texts, tr

_WORDS = texts("rows")
WAITS: Mapping[str, str] = _WORDS["waits"]
"""Kinds of waits."""


def time_rows(found: Sequence[Explanation | None]) -> list[Row]:
    """Rows for the runs (None: nothing was found out of it), measured by the same counters as
    everything else; none where nothing is known.
    """
    known = [e for e in found if e is not None]
    if not known:
        return []
    note = model_note(known[0].timeline.device)
    predicted = [None if e is None else modelled(e) for e in found]
    rows = [Row(tr("Time and caches"))]
    for key in _WORDS["times"]:
        values, strong = _of(key, predicted), key == "duration_ns"
        hint = "\n".join([note, *(_between(e) for e in known)]) if strong else note
        rows.append(Row(tr(_WORDS["times"][key]), hint, key, values, strong=strong, modelled=True))
    hint = tr("For each instruction issued. A click shows or hides these rows.")
    if any(e.prediction.circumstances.dram_share for e in known):
        hint += "\n" + tr(
            "Predicted with the data in memory. Counters are read in runs after others, which find "
            "what those left in L2, if it has room."
        )
    rows.append(Row(tr("Waiting, cycles an instruction"), hint, "waits"))
    for key in WAITS:
        hint, values = f"{tr(_WORDS['meanwhile'][key])}.\n{_counters(key)}", _of(key, predicted)
        label, strong = tr(WAITS[key]), key == ALL
        rows.append(Row(label, hint, key, values, strong=strong, modelled=True, digits=2))
    return rows


def _between(e: Explanation) -> str:
    return tr("{time}, {low} to {high}", **interval_values(e))


def _of(key: str, predicted: Sequence[Mapping[str, float] | None]) -> tuple[float | None, ...]:
    return tuple(None if one is None else one.get(key) for one in predicted)


def _counters(key: str) -> str:
    """What Nsight Compute calls a wait."""
    if key == ALL:
        return tr("Nsight Compute: {name}", name="Warp Cycles Per Issued Instruction")
    names = ", ".join(part.removeprefix(PREFIX) for part in KEYS[key])
    return tr("Nsight Compute, stalls: {names}", names=names)
