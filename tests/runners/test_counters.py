"""Which metrics of a chip are read under which names."""

from gpuviz.runners.counters import FORMS, LIVE_FORMS, combine, metrics_for

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
