"""The table as a whole: what it covers, and what every function of it keeps to."""

from __future__ import annotations

import csv
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from gpuviz.ptx.arithmetic.kinds import CONTAINERS
from gpuviz.ptx.arithmetic.ops import ROWS, Row, _slots, built, operation
from gpuviz.ptx.text.ir import Opcode
from tests.ptx.checks import interesting, op

# Opcodes seen in the PTX of 211 CUDA programs that are no arithmetic: memory, control, warps.
ELSEWHERE = (
    "activemask",
    "atom",
    "bar",
    "barrier",
    "bra",
    "cp",
    "cvta",
    "exit",
    "fence",
    "griddepcontrol",
    "ld",
    "match",
    "mbarrier",
    "membar",
    "nanosleep",
    "red",
    "redux",
    "ret",
    "shfl",
    "st",
    "suld",
    "sust",
    "tex",
    "trap",
    "vote",
    "wmma",
)
SEEN = tuple(
    row["instruction"]
    for row in csv.DictReader(
        (Path(__file__).parents[1] / "data" / "ptx_opcodes.csv").read_text().splitlines()
    )
)
ARITHMETIC = tuple(text for text in SEEN if text.split(".")[0] not in ELSEWHERE)


def test_an_opcode_is_its_text() -> None:
    assert Opcode.parse("fma.rn.ftz.f32") == Opcode("fma", ("rn", "ftz", "f32"))
    assert Opcode.parse("fma.rn.ftz.f32").text == "fma.rn.ftz.f32"
    assert Opcode.parse("ret").text == "ret"


def test_many_opcodes_are_seen() -> None:
    assert len(ARITHMETIC) > 200


@pytest.mark.parametrize("text", ARITHMETIC)
def test_seen_in_real_programs(text: str) -> None:
    assert operation(Opcode.parse(text)) is not None


@pytest.mark.parametrize("text", ["add.f31", "add", "fma.f32", "ld.global.u32", "shl.u32", "nop"])
def test_unknown(text: str) -> None:
    assert operation(Opcode.parse(text)) is None


def test_types_of_operands() -> None:
    assert op("mul.wide.s16").results == ("s32",)
    assert op("mad.wide.u32").sources == ("u32", "u32", "u64")
    assert op("addc.cc.u32").sources == ("u32", "u32", "pred")
    assert op("add.cc.u64").results == ("u64", "pred")
    assert op("cvt.rn.f32.u64").sources == ("u64",)
    assert op("slct.f64.s32").sources == ("f64", "f64", "s32")
    assert op("setp.lt.s32").results == ("pred",)
    assert op("setp.lt.s32", 2).results == ("pred", "pred")
    assert op("cvt.rna.tf32.f32").results == ("b32",)


def test_built_once() -> None:
    assert op("add.u32") is op("add.u32")


def _variants(row: Row, count: int) -> list[tuple[str, ...]]:
    choices = [[*sorted(names), *[""] * optional] for names, optional in _slots(row.pattern)]
    every = [tuple(mod for mod in mods if mod) for mods in product(*choices)]
    return every[:: max(1, len(every) // count)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.name} {row.pattern}")
def test_a_row_keeps_to_the_rules(row: Row) -> None:
    """Right containers, lazy broadcasting, operands left alone, and no warning (an error here)."""
    for mods in _variants(row, 8):
        found = built(row, mods)
        operands = [interesting(kind, 48, place) for place, kind in enumerate(found.sources)]
        flat = _tuple(found.function(*operands))
        before = [operand.copy() for operand in operands]
        assert [x.dtype for x in flat] == [CONTAINERS[kind] for kind in found.results], mods
        lone = [operand[:1].reshape(1, 1) for operand in operands]
        for result, first in zip(_tuple(found.function(*lone)), flat, strict=True):
            assert result.shape == (1, 1), mods
            assert result[0, 0] == first[0] or row.name == "lop3", mods
        crossed = [x.reshape((-1, 1) if i % 2 else (1, -1)) for i, x in enumerate(operands)]
        for result, first in zip(_tuple(found.function(*crossed)), flat, strict=True):
            assert np.array_equal(np.broadcast_to(result, (48, 48)).diagonal(), first) or (
                row.name == "lop3"
            ), mods
        assert all(map(np.array_equal, operands, before)), mods


def _tuple(results: object) -> tuple[np.ndarray, ...]:
    return results if isinstance(results, tuple) else (results,)  # type: ignore[return-value]
