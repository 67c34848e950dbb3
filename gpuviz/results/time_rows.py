"""Time and traffic of caches as rows of the counts panel: modelled, where that was found out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from gpuviz.language import tr
from gpuviz.machine.explained import Explained
from gpuviz.machine.warp_states import WAITS, State
from gpuviz.panels.limit_words import model_note
from gpuviz.panels.state_inks import NAMES, TOLD
from gpuviz.results.quantities import Row

_LEAST = 0.05  # of a warp's time, for a wait to have a row
Of = Callable[[Explained], float]


def time_rows(found: Sequence[Explained | None]) -> list[Row]:
    """Rows for the runs (None: nothing was found out of it), measured by the same counters as
    everything else; none where nothing is known.
    """
    known = [e for e in found if e is not None]
    if not known:
        return []
    note = model_note(known[0].timeline.device)
    labels = {
        "duration_ns": tr("duration, ns"),
        "l2_to_l1_sectors": tr("L2 to L1, sectors"),
        "dram_read_sectors": tr("memory to L2, sectors"),
    }

    def values(of: Of) -> tuple[float | None, ...]:
        return tuple(None if e is None else of(e) for e in found)

    rows = [Row(tr("Time and caches"))]
    rows += [
        Row(
            label,
            note,
            key,
            values(partial(_counted, key)),
            strong=key == "duration_ns",
            modelled=True,
        )
        for key, label in labels.items()
    ]
    most = max(known, key=lambda e: e.prediction.cycles).waits
    for state in (state for state, share in most.items() if state in WAITS and share >= _LEAST):
        label = tr("waits: {what}", what=tr(NAMES[state]))
        hint = tr("Of the time of a resident warp: {what}.", what=tr(TOLD[state]))
        hint += "\n" + tr("Predicted only: the recordings hold no reasons for stalls.")
        shares = values(partial(_share, state))
        rows.append(Row(label, hint, "", shares, percent=True, modelled=True))
    return rows


def _counted(key: str, e: Explained) -> float:
    return e.counted[key]


def _share(state: State, e: Explained) -> float:
    return e.waits.get(state, 0.0)
