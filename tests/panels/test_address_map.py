"""The address map: what hovering tells, what is kept back while a class is asked, its states."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from gpuviz.arch import architecture
from gpuviz.base.arrays import I64
from gpuviz.draw.axis import wider
from gpuviz.draw.hit import tip_at
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Boxes, Curves, Frame, Texts
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.memory.request import Request, requests_of
from gpuviz.panels.address_map import AddressMap
from gpuviz.panels.picture import Picture, placed
from gpuviz.story.requests.acts import RequestAct, request_board, total
from gpuviz.story.requests.sentences import verdict
from gpuviz.story.script import Act
from gpuviz.traces.trace import Buffer, Launch, MemoryInstruction, Requests, Trace

STAGE = Stage(900, 500, DARK)
AREA = Rect(20, 20, 860, 460)
LANES = np.arange(32)


def request(index: I64, lanes: int = 32, op: str = "load", arch: str = "sm_90") -> Request:
    """One request of warp 1 for these floats of a buffer."""
    did = MemoryInstruction(0, 7, 9, f"{op}.global.f32", op, "global", 4)  # type: ignore[arg-type]
    zero, one = np.zeros(1, np.int64), np.ones(1, np.int64)
    rows = Requests(
        zero.astype(np.int32),
        zero,
        zero,
        one.astype(np.int32),
        zero.astype(np.int32),
        np.array([(1 << lanes) - 1], np.uint32),
        (4096 + 4 * index).astype(np.uint64)[None],
    )
    buffer = Buffer("in", 4096, 1 << 16, "f32", 1 << 14)
    launch = Launch("k", (1, 1, 1), (64, 1, 1), 0, (buffer,))
    trace = Trace(launch, (did,), rows, (0,), 1, 0, 0)
    return requests_of(trace, architecture(arch), 0, 1)[0]


def drawn(panel: AddressMap, stage: Stage = STAGE) -> Frame:
    return stage.frame(*panel.draw(stage, AREA))


def words(frame: Frame) -> str:
    return " ".join(s for mark in frame.marks if isinstance(mark, Texts) for s in mark.strings)


def hatched(frame: Frame) -> int:
    return sum(len(m.rect) for m in frame.marks if isinstance(m, Boxes) and m.hatch is not None)


@pytest.mark.parametrize("op", ["atomic", "reduction"])
def test_an_atomic_updates_in_all_its_words(op: str) -> None:
    one = request(2 * LANES, op=op)
    act = RequestAct(one, Act(0, 1), Act(1, 2))
    board = Picture("", "", request_board((act,), act, 1.5))
    said = words(placed(board, STAGE).frame())
    assert "each lane updates 4 bytes of in" in said and "updated" in said and "atomic in" in said
    every = f"{said} {verdict(one)} {total((act,))}"
    assert not re.search(r"\b(reads|load|fetches|delivered|used|writes|store)\b", every)


def test_hovering_tells_who_asks_for_what_and_what_came_for_nothing() -> None:
    shown = drawn(AddressMap(request(2 * LANES)))
    lanes = next(m for m in shown.marks if isinstance(m, Boxes) and len(m.rect) == 32)
    x, y, width, height = lanes.rect[5].tolist()
    assert tip_at(shown, x + width / 2, y + height / 2) == (
        "lane 5 · thread 37 of block 0\nin[10] · bytes 40 to 43 · address 0x1028\nsector 1 · line 0"
    )
    waste = max(
        (m for m in shown.marks if isinstance(m, Boxes) and m.hatch is not None),
        key=lambda m: len(m.rect),
    )
    x, y, width, height = waste.rect[0].tolist()
    tip = tip_at(shown, x + width / 2, y + height / 2) or ""
    assert tip.startswith("bytes 4 to 7 of in\nfetched with sector 0, but no lane")


def test_what_nobody_asks_for_is_hatched_and_kept_back_from_a_class() -> None:
    panel = AddressMap(request(2 * LANES))
    assert hatched(drawn(panel)) == 32
    asked = drawn(panel, replace(STAGE, question="How many sectors?"))
    assert hatched(asked) == 0
    assert "sector" not in words(asked) and "line" not in words(asked)
    assert "128 bytes · in + 0x0000" in words(asked)
    assert "line 1 · 128 bytes" in words(drawn(panel))
    cells = [m.rect for m in asked.marks if isinstance(m, Boxes) and m.lanes is not None][-1]
    steps = np.diff(np.sort(cells[:, 0]))
    assert steps.max() < 1.05 * steps.min(), "no sector can be told from the next"
    assert not [m for m in asked.marks if isinstance(m, Boxes) and m.stroke_width == 1.5]


def test_a_request_goes_out_and_is_served_one_transaction_after_another() -> None:
    """Bands: all asked for, none brought; then those of the first three sectors, and a half."""

    def bands(panel: AddressMap) -> list[int]:
        return [len(m.points) for m in drawn(panel).marks if isinstance(m, Curves)]

    made = request(LANES)
    assert bands(AddressMap(made, 0.5, 0.0)) == [32, 32, 0]
    assert bands(AddressMap(made, 1.0, 0.0)) == [32, 0]
    assert bands(AddressMap(made, 1.0, 2.5)) == [16, 24]
    assert bands(AddressMap(made)) == [0, 32]


def test_an_older_architecture_has_its_own_transactions() -> None:
    shown = words(drawn(AddressMap(request(LANES + 1, arch="sm_10"))))
    assert "each half warp is served by itself" in shown
    assert "32 segments" in shown and "sector" not in shown


@pytest.mark.parametrize("lanes", [1, 7])
def test_lanes_that_take_no_part_have_no_band(lanes: int) -> None:
    shown = drawn(AddressMap(request(LANES, lanes, "store")))
    assert "each lane writes 4 bytes of in" in words(shown)
    assert max(len(m.points) for m in shown.marks if isinstance(m, Curves)) == lanes


def test_it_says_how_much_room_it_wants() -> None:
    panel = AddressMap(request(LANES))
    assert panel.share == 1.0
    assert 10 * STAGE.text(14) < panel.need(STAGE, 800).least < 0.5 * STAGE.height


@pytest.mark.parametrize(("few", "many"), [(1, 2), (1, 8), (4, 32)])
def test_a_byte_is_as_wide_in_the_strip_beside_it(few: int, many: int) -> None:
    """Whatever their numbers of sectors; alone each takes the room there is."""
    panels = [AddressMap(request(stride * LANES)) for stride in (few, many)]

    def wide(panel: AddressMap, stage: Stage) -> float:
        shown = drawn(panel, stage)
        boxes = [m.rect for m in shown.marks if isinstance(m, Boxes) and m.radius == 5]
        strip = next(rect for rect in boxes if len(rect) == panel.request.count)
        assert strip[:, 0].min() >= AREA.x and (strip[:, 0] + strip[:, 2]).max() <= AREA.right
        return float(strip[:, 2].sum() / panel.request.moved)

    alone = [wide(panel, STAGE) for panel in panels]
    shared = replace(STAGE, scales=wider(*(panel.scales() for panel in panels)))
    beside = [wide(panel, shared) for panel in panels]
    assert beside[0] == pytest.approx(beside[1], rel=1e-3)
    assert alone[0] > 1.2 * alone[1]
