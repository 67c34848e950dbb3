from dataclasses import replace

import pytest

from gpuviz.arch import architecture
from gpuviz.run.emulated import run
from gpuviz.sass import listing
from tests.sass.kernels import job


def test_without_machine_code_the_ptx_counts() -> None:
    one = job("saxpy")
    result = run(replace(one, program=replace(one.program, cubin=b"")), architecture("sm_90"))
    assert result.level == "ptx" and "no machine code" in result.level_note


@pytest.mark.machine_code
def test_machine_code_of_another_family_does_not_count() -> None:
    result = run(job("saxpy"), architecture("sm_60"))
    assert result.level == "ptx" and "sm_90" in result.level_note and result.listing is None


def test_without_the_disassembler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "find_nvdisasm", lambda: None)
    result = run(job("tr_naive"), architecture("sm_90"))
    assert result.level == "ptx" and "pip install nvidia-cuda-nvdisasm" in result.level_note


@pytest.mark.machine_code
def test_reasons_in_words() -> None:
    result = run(job("aos_shared"), architecture("sm_90"))
    assert result.level == "sass" and result.listing is not None
    texts = {d.text for d in result.differences}
    assert "the compiler merged 4 stores into one 16-byte store" in texts
    assert "the compiler merged 4 loads into one 16-byte load" in texts
    wide = [r for r in result.counts.rows if r.instruction.text.startswith("LDS")]
    assert [(r.instruction.text, r.instruction.width) for r in wide] == [("LDS.128", 16)]
    assert all(r.instruction.line and r.instruction.ptx_line for r in result.counts.rows)


@pytest.mark.machine_code
def test_guards_in_words() -> None:
    result = run(job("guard_nested"), architecture("sm_90"))
    assert any("a guard" in d.text for d in result.differences)
