"""Requests as a trace has them: their transactions, and what is none of a known buffer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpuviz.arch import architecture
from gpuviz.memory.request import first_requests, requests_of
from gpuviz.traces.trace import Buffer, Launch, MemoryInstruction, Requests, Trace

BASE = 4096
LANES = np.arange(32)
HOPPER = architecture("sm_90")


def traced(*index: object) -> Trace:
    """A load of floats for each of these (32,) indices, all by one instruction of warp 0."""
    did = MemoryInstruction(0, 7, 9, "ld.global.f32", "load", "global", 4)
    count = len(index)
    none = np.zeros(count, np.int64)
    address = np.stack([BASE + 4 * np.asarray(one) for one in index]).astype(np.uint64)
    rows = Requests(
        none.astype(np.int32),
        np.arange(count),
        none,
        none.astype(np.int32),
        none.astype(np.int32),
        np.full(count, 0xFFFFFFFF, np.uint32),
        address,
    )
    buffer = Buffer("in", BASE, 1 << 16, "f32", 1 << 14)
    launch = Launch("k", (1, 1, 1), (32, 1, 1), 0, (buffer,))
    return Trace(launch, (did,), rows, (0,), 1, 0, 0)


@pytest.mark.parametrize("stride", [1, 2, 3, 8, 32])
def test_transactions_cover_what_the_lanes_ask_for(stride: int) -> None:
    (made,) = requests_of(traced(stride * LANES), HOPPER, 0, 0)
    assert made.count == len(np.unique(stride * LANES // 8)) and made.ideal == 4
    assert (made.used, made.moved) == (128, 32 * made.count)
    assert made.steps.tolist() == [stride] * 31
    assert made.line.max() + 1 == len(np.unique(stride * LANES // 32))
    assert made.place(5) == f"in[{5 * stride}]"
    assert replace(made, record=20).place(5) == f"in[{20 * stride // 20}] + {20 * stride % 20}"


def test_transactions_are_told_in_the_order_of_delivery_and_kept_in_that_of_addresses() -> None:
    (made,) = requests_of(traced(LANES[::-1]), HOPPER, 0, 0)
    assert made.strip.start.tolist() == [0, 32, 64, 96]
    assert made.turn.tolist() == [3, 2, 1, 0]


def test_the_first_request_of_an_instruction_stands_for_it() -> None:
    trace = traced(LANES, 2 * LANES)
    assert [r.count for r in requests_of(trace, HOPPER, 0, 0)] == [4, 8]
    assert [r.count for r in first_requests(trace, HOPPER, 0, 0)] == [4]


def test_what_lies_in_no_buffer_is_no_request() -> None:
    assert requests_of(traced(LANES + (1 << 20)), HOPPER, 0, 0) == ()
