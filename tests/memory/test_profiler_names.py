"""What profilers call the counts: of each that a table names, the metric that is read for it."""

from gpuviz.coverage import counters
from gpuviz.memory.counts import Count
from gpuviz.memory.profiler_names import NAMES, names_of
from gpuviz.results.quantities import called, rows_of
from gpuviz.runners.counters import FORMS


def test_the_metric_of_today_is_the_one_that_is_read() -> None:
    for one in NAMES:
        read = {metric.split("+")[0] for metric in FORMS[str(one.key)]}
        assert one.today.removesuffix(".sum") in {metric.removesuffix(".sum") for metric in read}


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
