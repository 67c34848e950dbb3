"""`gpuviz report`: the page of the documentation, run; and our own counts as such a page."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from gpuviz.cli import main
from tests.test_layers import ROOT

DOCUMENT = (ROOT / "docs/reports.md").read_text(encoding="utf-8")


def block(kind: str) -> str:
    """A block of the page."""
    found = re.search(rf"```{kind}\n(.*?)```", DOCUMENT, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """The report and the source of the page, as arguments."""
    page, source = tmp_path / "app.csv", tmp_path / "app.cu"
    page.write_text(block("csv"))
    source.write_text(block("cuda"))
    return [str(page), "--source", str(source)]


def test_the_page_says_what_the_command_says(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", *files]) == 0
    assert capsys.readouterr().out.strip() == block("text").strip()


def test_a_counter_that_differs_is_told_with_its_cause(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    page = Path(files[0])
    page.write_text(page.read_text().replace('"16,384"', '"16,388"'))
    assert main(["report", *files, "--json"]) == 1
    (told,) = json.loads(capsys.readouterr().out)
    apart = {row["quantity"]: row["difference"] for row in told["compared"] if not row["equal"]}
    assert apart == {"global_load_sectors": 4.0}
    assert told["finding"]["line"] == 3 and told["finding"]["lesson"] == "coalescing"
    assert main(["report", *files]) == 1
    text = capsys.readouterr().out
    assert "+4 (+0.0%)" in text and "2 of 3 counters as predicted" in text


@pytest.mark.machine_code
def test_time_is_modelled_where_it_is_asked_for(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    main(["report", *files, "--time"])
    (line,) = (one for one in capsys.readouterr().out.splitlines() if "duration_ns" in one)
    assert "2,720" in line and "about " in line


@pytest.mark.machine_code
def test_what_an_h200_counted_is_what_is_predicted(capsys: pytest.CaptureFixture[str]) -> None:
    """A page that ncu wrote of four launches, with the file that made them."""
    page, source = (ROOT / f"tests/data/ncu_h200_shapes{kind}" for kind in (".csv", ".cu"))
    assert main(["report", str(page), "--source", str(source), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [len(one["compared"]) for one in told] == [12] * 4
    assert all(row["equal"] for one in told for row in one["compared"])
    lessons = [one["finding"] and one["finding"]["lesson"] for one in told]
    assert lessons == [None, "coalescing", "banks", "histogram"]


def test_another_page_of_ncu_is_refused_with_the_way_to_the_raw_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "details.csv"
    page.write_text(
        '"ID","Kernel Name","Block Size","Grid Size","CC","Section Name","Metric Value"\n'
        '"0","saxpy","(256, 1, 1)","(4096, 1, 1)","9.0","Memory","3.19"\n'
    )
    assert main(["report", str(page)]) == 2
    assert "ncu --page raw --csv" in capsys.readouterr().err


def test_a_launch_of_another_file_is_refused(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    page = Path(files[0])
    page.write_text(page.read_text().replace("strided(", "gather("))
    assert main(["report", *files]) == 2
    assert "gather" in capsys.readouterr().err


def test_our_counts_are_read_as_a_report(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ours = tmp_path / "ours.csv"
    assert main(["count", files[2], "--ncu", str(ours)]) == 0
    head, units, row = csv.reader(ours.read_text().splitlines())
    told = dict(zip(head, zip(units, row, strict=True), strict=True))
    assert told["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] == ("sector", "16,384")
    assert told["Grid Size"][1] == "(64, 1, 1)" and told["Process Name"][1] == "gpuviz (predicted)"
    capsys.readouterr()
    assert main(["report", str(ours), *files[1:]]) == 0
    assert "6 of 6 counters as predicted" in capsys.readouterr().out


def test_a_report_without_a_counter_that_is_predicted_says_so(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    page = Path(files[0])
    page.write_text(re.sub(r"l1tex__\w+", "another", page.read_text()))
    assert main(["report", *files]) == 0
    assert "none of these is predicted exactly" in capsys.readouterr().out
