"""Programs made by Hypothesis: both engines leave the same memory, counts, findings and faults."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from gpuviz.ptx.text.parser import parse
from tests.ptx.compiled.engines import same
from tests.ptx.compiled.programs import programs

RAN: dict[str, int] = {}


def check(text: str, blocks: int, threads: int, short: int) -> None:
    note(text)
    numbers = np.random.default_rng(5).integers(-1000, 1000, blocks * threads + 64)
    given_ = [
        numbers.astype(np.int32),
        np.zeros(blocks * threads - short, np.int32),  # too short: the last threads have no place
        np.zeros(8, np.int32),
    ]
    result = same(parse(text), "k", (blocks, 1, 1), (threads, 1, 1), given_, runs_on="")
    engine = "fault" if isinstance(result, str) else result.engine
    RAN[engine] = RAN.get(engine, 0) + 1


made = given(
    programs,
    st.integers(1, 3),
    st.sampled_from([32, 64, 96, 80, 33, 1]),
    st.sampled_from([0, 0, 0, 0, 1]),
)


@settings(max_examples=5, derandomize=True)
@made
def test_few_programs(text: str, blocks: int, threads: int, short: int) -> None:
    check(text, blocks, threads, short)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_many_programs() -> None:
    RAN.clear()
    settings(max_examples=300)(made(check))()
    print(RAN)
    assert RAN["compiled"] > 100 and RAN["fault"] > 10
