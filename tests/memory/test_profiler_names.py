"""What profilers call the counts: of each that a table names, the metric that is read for it."""

from gpuviz.gpu.counters import FORMS
from gpuviz.memory.counts import NAMES, Count, names_of
from gpuviz.results.quantities import called, rows_of
from tools.coverage import counters


def test_the_metric_of_today_is_the_one_that_is_read() -> None:
    for one in NAMES:
        read = {metric.split("+")[0] for metric in FORMS[str(one.key)]}
        assert one.today.removesuffix(".sum") in {metric.removesuffix(".sum") for metric in read}


# Nsight Compute CLI 2024.2, 4.6.3, table 11: the names that gpuviz shows, and NVIDIA's metric.
_TABLE = {
    "global_load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld",
    "gld_transactions": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld",
    "global_store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st",
    "gst_transactions": "l1tex__t_sectors_pipe_lsu_mem_global_op_st",
    "local_load_requests": "l1tex__t_requests_pipe_lsu_mem_local_op_ld",
    "local_load_transactions": "l1tex__t_sectors_pipe_lsu_mem_local_op_ld",
    "local_store_requests": "l1tex__t_requests_pipe_lsu_mem_local_op_st",
    "local_store_transactions": "l1tex__t_sectors_pipe_lsu_mem_local_op_st",
    "inst_executed_shared_loads": "smsp__inst_executed_op_shared_ld",
    "shared_load_transactions": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld",
    "inst_executed_shared_stores": "smsp__inst_executed_op_shared_st",
    "shared_store_transactions": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st",
    "inst_executed": "smsp__inst_executed",
    "branch_efficiency": "smsp__sass_average_branch_targets_threads_uniform",
    "achieved_occupancy": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "l2_read_transactions": "lts__t_sectors_op_read",  # and of atomics and reductions
    "l2_write_transactions": "lts__t_sectors_op_write",  # likewise
    "dram_read_transactions": "dram__sectors_read",
    "dram_write_transactions": "dram__sectors_write",
}


def test_names_of_nvprof_are_those_of_nvidias_table() -> None:
    for one in filter(lambda name: name.nvprof, NAMES):
        told, today = _TABLE[one.nvprof.split(" (")[0]], one.today.removesuffix(".sum")
        patched = today.replace("smsp__sass_l1tex_data", "l1tex__data")
        share = today.replace("smsp__sass_branch", "smsp__sass_average_branch")
        assert told in (today, patched, share)


def test_a_row_of_counts_says_its_names() -> None:
    said = called(Count.GLOBAL_LOAD_SECTORS)
    assert "nvprof: gld_transactions" in said
    assert "Nsight Compute: l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum" in said
    totals = dict.fromkeys(Count, 0) | {Count.GLOBAL_LOAD_REQUESTS: 1}
    row = next(r for r in rows_of([totals]) if r.key == Count.GLOBAL_LOAD_SECTORS)
    assert said in row.hint
    assert names_of("l2_load_sectors_least").today == "" == called("l2_load_sectors_least")


def test_the_page_is_up_to_date() -> None:
    assert counters.PAGE.read_text(encoding="utf-8") == counters.page()
