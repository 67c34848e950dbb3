"""The code of a run as text: machine code with its costs, and what the assembler changed."""

from __future__ import annotations

from dataclasses import replace

from gpuviz.memory.counting import Counts
from gpuviz.results import code_text
from gpuviz.results.highlighting import spans
from gpuviz.run.run import Run
from gpuviz.sass.listing import Listing, SassInstruction
from gpuviz.sass.plan import Difference
from tests.qt.fake_lesson import LESSONS, run


def sass(address: int, text: str, line: int, ptx_line: int, target: int = -1) -> SassInstruction:
    opcode, _, operands = text.partition(" ")
    return SassInstruction(address, text, "", opcode, operands, line, ptx_line, target)


LISTING = Listing(
    "pairs",
    (
        sass(0, "S2R R0, SR_TID.X", 2, 11),
        sass(16, "LDG.E R2, desc[UR4][R2.64]", 3, 15),
        sass(32, "STG.E desc[UR4][R4.64], R2", 3, 17),
        sass(48, "BRA `(.L_x_0)", 0, 0, 48),
    ),
    {0: ".text.pairs", 48: ".L_x_0"},
)


def assembled() -> Run:
    """The fake run with its machine code; its counts are by machine instruction."""
    made = run(LESSONS[0].defaults(), "sm_90", "sass")
    names = {"ld.global.f32": "LDG.E", "st.global.f32": "STG.E"}
    rows = tuple(
        replace(r, instruction=replace(r.instruction, text=names[r.instruction.text]))
        for r in made.counts.rows
    )
    merged = Difference(3, 15, "widened", "the compiler merged 4 loads into one 16-byte load")
    return replace(made, counts=Counts(rows), listing=LISTING, differences=(merged,))


def test_machine_code_has_labels_costs_and_cuda_lines() -> None:
    code = code_text.sass(assembled())
    assert code.text.splitlines() == [
        "    /*0000*/  S2R R0, SR_TID.X",
        "    /*0010*/  LDG.E R2, desc[UR4][R2.64]",
        "    /*0020*/  STG.E desc[UR4][R4.64], R2",
        ".L_x_0:",
        "    /*0030*/  BRA `(.L_x_0)",
    ]
    assert code.notes == {
        2: ("ld 8 sectors / request", "ld 8 sectors"),
        3: ("st 4 sectors / request", "st 4 sectors"),
    }
    assert code.lines == {2: {1}, 3: {2, 3}}


def test_merged_accesses_are_told_at_their_line() -> None:
    made = assembled()
    assert code_text.remarks(made, 3) == "line 3: the compiler merged 4 loads into one 16-byte load"
    assert code_text.remarks(made, 2) == made.level_note


def test_without_machine_code_there_is_a_reason() -> None:
    none = replace(assembled(), listing=None, level_note="nvdisasm is not on this machine")
    assert code_text.sass(none).missing == "No machine code: nvdisasm is not on this machine."
    assert "Choose SASS counts" in code_text.sass(replace(none, level_note="")).missing


def test_machine_code_is_coloured() -> None:
    (line,) = spans("    /*0010*/  @P0 LDG.E R2, 0x10", "sass")
    text = "    /*0010*/  @P0 LDG.E R2, 0x10"
    found = {text[start : start + n]: color for start, n, color, _ in line}
    assert (found["/*0010*/"], found["@P0"], found["LDG.E"], found["0x10"]) == (
        "faint",
        "load",
        "store",
        "compute",
    )
