"""The bank map and its board: what hovering tells, what is kept back, who is served when."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpuviz.arch import architecture
from gpuviz.base.arrays import I64
from gpuviz.draw.hit import tip_at
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Boxes, Frame, Lines, Texts
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.memory.bank_request import BankRequest, bank_requests
from gpuviz.panels.bank_board import with_board
from gpuviz.panels.bank_map import BankMap
from gpuviz.panels.layout import place
from gpuviz.panels.picture import Picture, placed
from gpuviz.traces.trace import Launch, MemoryInstruction, Requests, Trace

STAGE = Stage(1000, 600, DARK)
AREA = Rect(20, 20, 960, 500)
LANES = np.arange(32)


def request(word: I64, width: int = 4, op: str = "load", arch: str = "sm_90") -> BankRequest:
    """One request of warp 1 for these words of shared memory."""
    did = MemoryInstruction(0, 7, 9, f"{op}.shared", op, "shared", width)  # type: ignore[arg-type]
    zero, one = np.zeros(1, np.int32), np.ones(1, np.int32)
    rows = Requests(
        zero,
        zero.astype(np.int64),
        zero.astype(np.int64),
        one,
        zero,
        np.array([0xFFFFFFFF], np.uint32),
        (4 * word).astype(np.uint64)[None],
    )
    trace = Trace(Launch("k", (1, 1, 1), (64, 1, 1), 0, ()), (did,), rows, (0,), 1, 0, 0)
    return bank_requests(trace, architecture(arch), 0, 1)[0]


def shown(panel: BankMap, stage: Stage = STAGE) -> Frame:
    return stage.frame(*panel.draw(stage, AREA))


def cells(picture: Frame, count: int) -> Boxes:
    return next(m for m in picture.marks if isinstance(m, Boxes) and len(m.rect) == count and m.tip)


def outlined(picture: Frame, color: object) -> list[int]:
    return [
        len(m.rect)
        for m in picture.marks
        if isinstance(m, Boxes) and m.stroke is color and m.fill is None
    ]


def said(picture: Frame) -> list[str]:
    return [text for m in picture.marks if isinstance(m, Texts) for text in m.strings]


def test_hovering_tells_of_lanes_and_words() -> None:
    picture = shown(BankMap(request(LANES * 2), 1.0, 0.0))
    word = cells(picture, 64).rect[6]
    tip = tip_at(picture, word[0] + 4, word[1] + 4)
    assert tip == "word 6 · bytes 24 to 27 · bank 6\nfor lane 3"
    lane = cells(picture, 32).rect[20]
    tip = tip_at(picture, lane[0] + 4, lane[1] + 4)
    assert tip == (
        "lane 20 · thread 52 of block 0\nbytes 160 to 163 of shared memory\nbank 8 · wavefront 2"
    )


def test_only_rows_with_a_wanted_word_are_shown() -> None:
    picture = shown(BankMap(request(np.where(LANES == 5, 3200, LANES)), 1.0, 0.0))
    assert {"0", "3200"} <= set(said(picture))
    assert len(cells(picture, 64).rect) == 64


def test_the_bank_asked_for_most_is_not_pointed_out_while_a_class_is_asked() -> None:
    panel = BankMap(request(LANES * 8), 1.0, 0.0)
    asks = replace(STAGE, question="How many?")
    assert outlined(shown(panel), DARK.warn) == [1]
    assert outlined(shown(panel, asks), DARK.warn) == []
    assert outlined(shown(BankMap(request(LANES), 1.0, 0.0)), DARK.warn) == []


def test_a_wavefront_outlines_the_lanes_it_serves() -> None:
    collide = request(LANES * 2)
    served = [collide.brought.lane[collide.brought.turn == k] for k in range(collide.count)]
    picture = shown(BankMap(collide, 1.0, 0.5))
    lanes = cells(picture, 32).rect[served[0]]
    assert any(
        isinstance(m, Boxes)
        and len(m.rect) == len(lanes)
        and np.allclose(m.rect[:, 0], lanes[:, 0] - 2)
        for m in picture.marks
    )


def test_a_word_for_several_lanes_leaves_its_bank_in_one_arrow_and_a_store_does_not() -> None:
    def arrows(op: str) -> list[int]:
        picture = shown(BankMap(request(LANES // 8, op=op), 1.0, 0.5))
        return [len(m.points) for m in picture.marks if isinstance(m, Lines) and m.arrow]

    assert (arrows("load"), arrows("store")) == ([4], [])


def test_groups_are_underlined_where_they_are_served_apart() -> None:
    def bars(width: int) -> list[int]:
        picture = shown(BankMap(request(LANES * (width // 4), width), 1.0, 0.0))
        return [len(m.points) for m in picture.marks if isinstance(m, Lines)]

    assert (bars(4), bars(8), bars(16)) == ([], [2], [4])


def test_the_board_counts_says_why_and_waits_for_the_class() -> None:
    collide = request(LANES * 8)
    body = with_board(BankMap(collide, 1.0, 3.0), collide, 3.0)
    words = said(placed(Picture("Title", "Sentence.", body), STAGE).frame())
    assert "3 of 8 wavefronts" in words and "ideal 1" in words
    assert "8-way conflict in bank 0: lanes 0, 4, 8, 12, 16, 20, 24, 28" in words
    asks = replace(STAGE, question="How many?")
    assert not any(
        "wavefront" in text for text in said(placed(Picture("T", "S", body), asks).frame())
    )


def test_the_map_takes_the_room_that_the_board_leaves() -> None:
    one = request(LANES)
    areas = [piece for _, piece in place(with_board(BankMap(one, 1, 0), one, 0), STAGE, AREA)]
    assert areas[0].height > 400 and areas[-1].bottom == AREA.bottom
