"""Nsight Compute's raw page: what is read of it, what is refused, and what is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuviz.base.errors import FormatError, UnavailableError
from gpuviz.recordings import ncu
from gpuviz.recordings.ncu import ProfiledLaunch
from tests.test_layers import ROOT

HEAD = '"ID","Kernel Name","Block Size","Grid Size","CC"'
PLACE = '"(8, 4, 1)","(2, 1, 1)","9.0"'


def page(tmp_path: Path, columns: str, units: str, *rows: str, around: str = "") -> Path:
    """A file with such a page."""
    lines = [f"{HEAD},{columns}", f'"","","","","",{units}', *rows]
    file = tmp_path / "page.csv"
    file.write_text(f"{around}{chr(10).join(lines)}\n{around}")
    return file


def test_numbers_are_read_in_their_units(tmp_path: Path) -> None:
    columns = '"gpu__time_duration.sum","smsp__inst_executed.sum","launch__stack_size","other"'
    row = f'"0","void n::m<(int)8>::f<float, (int)3>(const float *, int)",{PLACE}'
    noise = "==PROF== Connected to process 7\nhello\n"
    file = page(tmp_path, columns, '"us","inst","","x"', f'{row},"1,002.5","32,768","4","n/a"')
    (one,) = ncu.read(file)
    assert one.counters == {"duration_ns": 1_002_500.0, "instructions": 32768.0}
    assert (one.grid, one.block, one.capability) == ((2, 1, 1), (8, 4, 1), "9.0")
    assert one.kernel == "f"
    file.write_text(noise + file.read_text() + noise)
    assert ncu.read(file) == (one,)


def test_a_page_of_an_h200_is_read() -> None:
    copy, transpose = ncu.read(ROOT / "tests/data/ncu_h200_raw.csv")
    assert (copy.kernel, copy.grid, copy.block) == ("copy_float", (262144, 1, 1), (32, 1, 1))
    assert copy.device == transpose.device == "NVIDIA H200" and copy.capability == "9.0"
    assert copy.counters["duration_ns"] == 159_616
    assert copy.counters["stalled_long_scoreboard"] == 43.14
    assert copy.counters["achieved_occupancy"] == 8.66
    assert transpose.kernel == "transpose_banks" and transpose.block == (32, 8, 1)


def test_two_metrics_of_a_count_are_one(tmp_path: Path) -> None:
    ordinary = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
    patched = "smsp__sass_inst_executed_op_global_ld.sum"
    rows = [
        f'"{n}","f",{PLACE},{values}' for n, values in enumerate(('"9","8"', '"9",""', '"","8"'))
    ]
    file = page(tmp_path, f'"{patched}","{ordinary}"', '"inst",""', *rows)
    assert [one.counters["global_load_requests"] for one in ncu.read(file)] == [8, 9, 8]


def test_what_a_metric_leaves_out_is_added(tmp_path: Path) -> None:
    columns = '"smsp__inst_executed_op_shared_ld.sum","smsp__inst_executed_op_ldsm.sum"'
    (one,) = ncu.read(page(tmp_path, columns, '"inst","inst"', f'"0","f",{PLACE},"5","2"'))
    assert one.counters["shared_load_requests"] == 7


PLAIN = "f", "void f(int)", "f<(int)3>(float *)"
NESTED = "void a::b<c<1>>::f<T>()", "(anonymous namespace)::f(int)", "a<" * 9 + ">::" * 9 + "f"


@pytest.mark.parametrize("name", [*PLAIN, *NESTED])
def test_a_kernel_is_known_by_its_name_alone(tmp_path: Path, name: str) -> None:
    (one,) = ncu.read(page(tmp_path, '"x"', '""', f'"0","{name}",{PLACE},"1"'))
    assert one.kernel == "f"


def test_what_is_no_page_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "page.csv"
    for text in ("", "a,b\n1,2\n", f'{HEAD},"x"\n'):
        file.write_text(text)
        with pytest.raises(FormatError, match="ncu --page raw --csv"):
            ncu.read(file)
    page(tmp_path, '"x"', '""', f'"0","f",{PLACE}')
    with pytest.raises(FormatError, match="5 columns, and 6"):
        ncu.read(file)
    page(tmp_path, '"x"', '""', '"0","f","(8, 0, 1)","(2, 1, 1)","9.0","1"')
    with pytest.raises(FormatError, match="no size"):
        ncu.read(file)


def test_a_report_needs_ncu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "app.ncu-rep"
    file.write_bytes(b"NVR")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UnavailableError, match="--import app.ncu-rep --page raw --csv > app.csv"):
        ncu.read(file)


def test_a_report_is_read_through_the_ncu_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "app.ncu-rep").write_bytes(b"NVR")
    page(tmp_path, '"smsp__inst_executed.sum"', '"inst"', f'"0","f",{PLACE},"5"')
    command = tmp_path / "ncu"
    command.write_text(f'#!/bin/sh\ntest "$1" = --import && cat {tmp_path}/page.csv\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    assert ncu.read(tmp_path / "app.ncu-rep")[0].counters == {"instructions": 5}
    command.write_text("#!/bin/sh\nexit 3\n")
    with pytest.raises(UnavailableError, match="does not read app.ncu-rep"):
        ncu.read(tmp_path / "app.ncu-rep")


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    counters = {"global_load_requests": 4096.0, "duration_ns": 1234567.25, "waits_memory": 3.0}
    lone = {"shared_load_wavefronts": 7.0, "stalled_wait": 1.5, "global_store_sectors": 0.0}
    shape = (2, 3, 1), (32, 1, 1), "us", "9.0"
    file = tmp_path / "page.csv"
    made = ProfiledLaunch("f(int)", *shape, counters), ProfiledLaunch("g", *shape, lone)
    file.write_text(ncu.text(made))
    first, second = ncu.read(file)
    assert first.counters == {k: v for k, v in counters.items() if k != "waits_memory"}
    assert second.counters == {"shared_load_wavefronts": 7.0, "stalled_wait": 1.5}
    assert (first.grid, first.block, first.kernel) == ((2, 3, 1), (32, 1, 1), "f")
