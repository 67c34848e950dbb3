"""Numbers in panels: bars with what is lost hatched, words where they fit, figures in a row."""

from __future__ import annotations

import numpy as np

from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Boxes, Mark, Texts
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.panels.bar import Bar, draw_bar
from gpuviz.panels.figures import Figure, FigureRow
from gpuviz.panels.panel import Panel
from gpuviz.panels.shares import Share, Shares
from gpuviz.panels.table import Column, Columns, Table
from gpuviz.story.measured import LaunchTime, time_figures

STAGE = Stage(900, 500, DARK)
AREA = Rect(0, 0, 600, 100)


def marks(panel: Panel, stage: Stage = STAGE, area: Rect = AREA) -> list[Mark]:
    return list(panel.draw(stage, area))


def words(found: list[Mark]) -> list[str]:
    return [s for mark in found if isinstance(mark, Texts) for s in mark.strings]


def wide(found: list[Mark], color: object) -> list[float]:
    """Widths of the boxes of a colour."""
    return [
        round(float(mark.rect[0, 2]))
        for mark in found
        if isinstance(mark, Boxes) and mark.fill is not None and np.array_equal(mark.fill, color)
    ]


def test_each_part_comes_as_far_as_it_has() -> None:
    found = list(draw_bar(STAGE, Bar(3, 1, (0.5, 0.25)), Rect(0, 0, 400, 20), DARK.accent))
    assert wide(found, DARK.todo(DARK.accent)) == [300] and wide(found, DARK.accent) == [150]
    assert wide(found, DARK.todo(DARK.waste_ground)) == [100]
    assert wide(found, DARK.waste_ground) == [25]


def test_words_that_have_no_room_in_their_part_stand_in_the_other_or_behind() -> None:
    def said(used: float, whole: float) -> list[str]:
        bar = Share("load", used, whole, ("12 bytes used",), ("lost",))
        return words(marks(Shares((bar, Share("most", 100, 100, (), ())))))[1:-1]

    assert said(50, 100) == ["12 bytes used", "lost"]
    assert said(2, 100) == ["12 bytes used, lost"]
    assert said(2, 2) == ["12 bytes used"]


def test_shares_are_answers() -> None:
    assert Shares.answers


def test_a_table_wants_room_for_titles_in_two_lines() -> None:
    names = tuple(Column((f"a rather long title {n}",), ("1", "2")) for n in range(6))
    panel = Table(names)
    assert panel.need(STAGE, 500).height > panel.need(STAGE, 2000).height


def test_the_figure_in_bold_is_told_where_not_all_have_room() -> None:
    figures = (
        Figure("1 request"),
        Figure("32 of 32 sectors delivered", bold=True, shorter=("32 of 32",)),
        Figure("ideal 4"),
    )

    def said(width: float) -> list[str]:
        return words(marks(FigureRow(figures), area=Rect(0, 0, width, 30)))[1:]

    assert said(800) == [figure.text for figure in figures]
    assert said(430) == ["1 request", "32 of 32 sectors delivered"]
    assert said(330) == ["32 of 32 sectors delivered"]
    assert said(180) == ["32 of 32"]


def test_a_measured_figure_goes_before_what_is_counted_but_never_without_its_launch() -> None:
    time = LaunchTime(12.0, "live", "NVIDIA H200", "2^20 words, 4 a lane")
    figures = (
        Figure("1 request"),
        Figure("32 of 32 sectors delivered", bold=True, shorter=("32 of 32",)),
        *time_figures(time),
        Figure("ideal 4"),
    )

    def said(width: float) -> list[str]:
        return words(marks(FigureRow(figures), area=Rect(0, 0, width, 30)))

    assert said(620)[1:] == [
        "32 of 32 sectors delivered",
        "launch 12.0\u202fµs, 2^20 words",
        "live",
    ]
    assert said(450)[1:] == ["32 of 32", "launch 12.0\u202fµs, 2^20 words", "live"]
    for width in range(100, 900, 10):
        shown = [text for text in said(width) if "launch" in text]
        assert all("2^20 words" in text for text in shown)


def test_columns_about_things_say_a_cell_of_each_and_a_dash_where_it_is_not_known() -> None:
    of = Columns((8, 16))
    counted = of(("registers", "reg."), lambda n: None if n == 8 else n, badge="model", bold=True)
    assert counted.titles == ("registers", "reg.") and counted.cells == ("–", "16")
    assert counted.badge == "model" and counted.bold
    assert of("blocks", str).titles == ("blocks",)
