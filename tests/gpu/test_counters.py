"""Which metrics of a chip are read under which names."""

from types import SimpleNamespace

import pytest

from gpuviz.gpu.client import _reading
from gpuviz.gpu.counters import FORMS, LIVE_FORMS, STALLS, combine, metrics_for
from gpuviz.gpu.device import Counters
from gpuviz.gpu.faults import CountersUnavailable

LOADS = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld"
MATRICES = LOADS + "sm"


def test_loads_of_matrices_are_loads_where_a_chip_counts_them() -> None:
    hopper = frozenset({LOADS, MATRICES})
    for forms in (FORMS, LIVE_FORMS):
        wanted = metrics_for(forms, hopper)["shared_load_wavefronts"]
        assert wanted == (LOADS + ".sum", MATRICES + ".sum")
        counted = {LOADS + ".sum": 3.0, MATRICES + ".sum": 4.0}
        assert combine({"shared_load_wavefronts": wanted}, counted) == {
            "shared_load_wavefronts": 7.0
        }
        older = metrics_for(forms, frozenset({LOADS}))["shared_load_wavefronts"]
        assert older == (LOADS + ".sum",)


def refusing(word: str) -> Counters:
    """Counters of a chip that has all, and refuses metrics with a word in them."""
    counters = Counters(None, 0)
    counters._chip = SimpleNamespace()  # type: ignore[assignment]
    forms = (part for listed in FORMS.values() for form in listed for part in form.split("+"))
    counters._available = frozenset(part.partition(".")[0] for part in forms)

    def read(kernel: object, chosen: dict[str, tuple[str, ...]]) -> tuple[dict[str, float], int]:
        if any(word in part for parts in chosen.values() for part in parts):
            raise CountersUnavailable("hardware counters are busy", "busy")
        return dict.fromkeys(chosen, 1.0), 2

    counters._read = read  # type: ignore[assignment]
    return counters


def test_what_is_refused_takes_nothing_else_with_it() -> None:
    found = refusing("sm__warps_active").read(None, "all")  # type: ignore[arg-type]
    key = "achieved_occupancy"
    assert found.whys == {key: "hardware counters are busy"} and found.passes == 2
    assert STALLS.keys() <= found.values.keys() and key not in found.values
    assert _reading(key, found.values, found.whys).why == "hardware counters are busy"
    assert _reading("x", found.values, found.whys).why == "this GPU has no counter for it"
    with pytest.raises(CountersUnavailable, match="busy"):
        refusing("stalled_wait").read(None, "all")  # type: ignore[arg-type]
