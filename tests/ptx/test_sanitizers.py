"""Every kernel of tests/data/sanitizers: its fault is found, on its line; correct ones pass."""

from functools import cache

import numpy as np
import pytest

from docs.sanitizers import CORRECT, Case, cases, source
from gpuviz.arguments import UNSET, materialise, parse
from gpuviz.compile import compile_cuda
from gpuviz.errors import KernelFault
from gpuviz.ptx.checks.table import ALL
from gpuviz.ptx.emulator import Options, emulate
from gpuviz.ptx.text.ir import Module
from gpuviz.ptx.text.parser import parse as parse_ptx
from gpuviz.trace import Finding

NAMES = [case.name for case in cases()]


@cache
def module(kind: str) -> Module:
    return parse_ptx(compile_cuda(source(kind), arch="sm_90").ptx)


def found(case: Case, checks: tuple[str, ...] = ALL, memory: int = 1 << 30) -> list[Finding]:
    """What the checks find, a fault that ends the run included."""
    specs = [parse(argument) for argument in case.arguments]
    try:
        result = emulate(
            module(case.kind),
            case.kernel,
            case.grid,
            case.block,
            [np.asarray(materialise(spec, n)) for n, spec in enumerate(specs)],
            options=Options(record=(), checks=checks, memory=memory),
            unset=[n for n, spec in enumerate(specs) if getattr(spec, "fill", "") == UNSET],
        )
    except KernelFault as fault:
        assert isinstance(fault.finding, Finding)
        return [fault.finding]
    return list(result.trace.findings)


@pytest.mark.parametrize("case", cases(), ids=NAMES)
def test_what_is_at_fault_is_found_and_nothing_else(case: Case) -> None:
    findings = found(case)
    if case.kind == CORRECT:
        assert findings == []
        return
    assert findings and {f.check for f in findings} == {case.kind}
    assert {f.line for f in findings} <= set(case.lines)
    assert all(f.remedy and f.count >= 1 and str(f.line) in f.message for f in findings)


@pytest.mark.slow
@pytest.mark.parametrize("case", cases(), ids=NAMES)
def test_blocks_that_run_one_after_the_other_are_found_out_as_well(case: Case) -> None:
    apart, together = found(case, memory=0), found(case)
    assert {f.check for f in apart} == {f.check for f in together}
    assert {f.line for f in apart} <= set(case.lines)


def test_each_class_has_its_kernels() -> None:
    kinds = [case.kind for case in cases()]
    assert {kind: kinds.count(kind) >= 6 for kind in ALL} == dict.fromkeys(ALL, True)
    assert kinds.count(CORRECT) >= 20 and len(kinds) - kinds.count(CORRECT) >= 24
    assert all(bool(case.lines) == (case.kind != CORRECT) for case in cases())
