"""Operations for every float loaded, and the rate that memory then allows, against the peak."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpuviz.draw.figures import line_height, pill_width, sourced
from gpuviz.draw.heading import badge, label
from gpuviz.draw.layout import Rect, first_fitting
from gpuviz.draw.marks import Boxes, Mark
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.language import tr
from gpuviz.runners.base import Run
from gpuviz.scenes.matmul.scene import Multiplication
from gpuviz.scenes.matmul.words import spaced
from gpuviz.scenes.measured import time_of

_FLOAT = 4  # bytes
DOCUMENT = "GPGPU programming, university course"


@dataclass(frozen=True)
class Card:
    """A GPU of the document: gigabytes a second; the peak in GFLOP/s, 0 when it names none."""

    bandwidth: int
    peak: int

    def rate(self, ratio: float) -> float:
        """GFLOP/s that memory allows at a ratio."""
        rate = self.bandwidth / _FLOAT * ratio
        return min(rate, self.peak) if self.peak else rate

    @property
    def needed(self) -> float:
        """The ratio at which memory keeps up with the peak."""
        return self.peak * _FLOAT / self.bandwidth


CARDS: Mapping[str, Card] = {"1000": Card(1000, 12_000), "150": Card(150, 0)}


@dataclass(frozen=True)
class Row:
    """One kernel, or what would be needed."""

    name: str
    ratio: float
    rate: float


@dataclass(frozen=True)
class Ratios:
    """Operations of the product, loads of the naive kernel, and the rows to compare.

    `full` is the rate that fills a bar; `measured` says what a GPU reached, "" when none ran it.
    """

    operations: int
    loads: int
    card: Card
    rows: tuple[Row, ...]
    full: float
    measured: tuple[str, str] = ("", "")


def ratios(about: Multiplication, runs: Mapping[str, Run], card: Card) -> Ratios:
    """Both kernels: the operations are those the naive one executes, which makes none in vain."""
    operations, loads = runs["naive"].trace.flops, about.totals["naive"].loads
    shared = operations / max(about.totals["tiled"].loads, 1)
    tile = about.sizes.tile
    pairs = [(tr("naive"), operations / max(loads, 1)), (tr("tiles of {n} × {n}", n=tile), shared)]
    rows = [Row(name, ratio, card.rate(ratio)) for name, ratio in pairs]
    if card.peak:
        rows.append(Row(tr("needed"), card.needed, card.peak))
    full = float(card.peak) or max(row.rate for row in rows)
    return Ratios(operations, loads, card, tuple(rows), full, _measured(runs["naive"], operations))


def _measured(run: Run, operations: int) -> tuple[str, str]:
    """Badge and words of what a GPU reached."""
    timed = time_of(run)
    if timed is None:
        return "", ""
    rate = operations / timed.microseconds / 1000
    word = tr("recorded") if timed.badge == "recorded" else tr("live")
    return word, tr(
        "{rate} GFLOP/s at this size on {device}", rate=f"{rate:.3g}", device=timed.device
    )


def height_of(stage: Stage, about: Ratios, full: bool) -> float:
    """Height of the whole picture, or without heading and source."""
    lines = len(about.rows) * stage.text(14) * 1.7
    last = line_height(stage) * (1 + bool(about.measured[0]))
    return lines + (stage.text(14) * 2.0 + last if full else 0.0)


def picture(stage: Stage, area: Rect, about: Ratios) -> tuple[Mark, ...]:
    """A bar a kernel; one line of words where there is no room for bars; nothing while the stage
    asks.
    """
    if stage.asks:
        return ()
    if area.height < height_of(stage, about, False) - 0.5:
        return _line(stage, area, about)
    full = area.height >= height_of(stage, about, True) - 0.5
    marks, rest = list[Mark](), area
    if full:
        head, rest = area.above(stage.text(14) * 2.0)
        marks += _head(stage, head, about)
    bars, rest = rest.above(height_of(stage, about, False))
    marks += _bars(stage, bars, about)
    return (*marks, *_sources(stage, rest, about)) if full else tuple(marks)


def said(about: Ratios) -> str:
    """`128 operations / 128 loads = 1`."""
    return tr(
        "{a} operations / {b} loads = {ratio}",
        a=spaced(about.operations),
        b=spaced(about.loads),
        ratio=f"{about.rows[0].ratio:.3g}",
    )


def _line(stage: Stage, area: Rect, about: Ratios) -> tuple[Mark, ...]:
    """The naive kernel in words."""
    first, size = about.rows[0], stage.text(14)
    memory = tr("memory allows {rate} GFLOP/s", rate=spaced(first.rate))
    text = first_fitting((f"{said(about)} · {memory}", said(about)), area.width, size, True)
    return (label(area.x, area.center[1], text, stage.palette.ink, size, True),) if text else ()


def _head(stage: Stage, area: Rect, about: Ratios) -> list[Mark]:
    """What the bars show, with the badge of the counts."""
    size, palette, y = stage.text(14), stage.palette, area.y + stage.text(14) * 0.7
    pill = pill_width(stage, tr("model"))
    forms = (
        tr("Operations for every float loaded: {said}", said=said(about)),
        tr("Operations for every float loaded"),
        tr("Operations per load"),
    )
    text = first_fitting(forms, area.width - pill, size, True)
    return [
        label(area.x, y, text, palette.ink, size, True),
        *badge(stage, area.right - pill + size * 0.65, y, tr("model"), palette.accent),
    ]


def _bars(stage: Stage, area: Rect, about: Ratios) -> list[Mark]:
    """Name, ratio, a bar as long as its part of the peak, the rate in words."""
    size, palette = stage.text(14), stage.palette
    name = max(text_width(row.name, size, True) for row in about.rows) + size
    value = max(text_width(f"{row.ratio:.3g}", size, True) for row in about.rows) + size
    marks: list[Mark] = []
    for number, (row, line) in enumerate(zip(about.rows, area.rows(len(about.rows)), strict=True)):
        y, color = line.center[1], (palette.compute, palette.accent, palette.good)[number]
        left = line.x + name + value
        track = Rect(left, line.y + size * 0.2, line.right - left, line.height - size * 0.4)
        bar = track._replace(width=max(track.width * row.rate / about.full, 2.0))
        marks += [
            label(line.x, y, row.name, palette.ink, size, number == 0),
            label(left - size * 0.7, y, f"{row.ratio:.3g}", palette.ink, size, True, "right"),
            Boxes(track.array(), palette.cell, radius=3),
            Boxes(bar.array(), color, radius=min(3.0, bar.width / 2)),
            _rate(stage, track, bar, row, about),
        ]
    return marks


def _rate(stage: Stage, track: Rect, bar: Rect, row: Row, about: Ratios) -> Mark:
    """What memory allows, beside the end of the bar or inside a long one."""
    size, palette = stage.text(14), stage.palette
    rate = tr("{rate} GFLOP/s", rate=spaced(row.rate))
    percent = f"{100 * row.rate / about.full:.0f}"
    share = tr("{rate} · {percent} % of the peak", rate=rate, percent=percent)
    forms = (share, rate, spaced(row.rate)) if about.card.peak else (rate, spaced(row.rate))
    y, free = track.center[1], track.right - bar.right - size
    text = first_fitting(forms, free, size)
    if text:
        return label(bar.right + size * 0.5, y, text, palette.ink, size)
    text = first_fitting(forms, bar.width - size, size)
    fill = palette.good if row is about.rows[-1] and about.card.peak else palette.accent
    return label(bar.x + size * 0.5, y, text, palette.ink_on(fill), size)


def _sources(stage: Stage, area: Rect, about: Ratios) -> tuple[Mark, ...]:
    """Where the ceilings come from; what a GPU reached."""
    muted, line = stage.palette.muted, line_height(stage)
    first, rest = area.above(line)
    marks = sourced(stage, first, tr("published"), muted, _published(about.card))
    if not about.measured[0]:
        return marks
    return *marks, *sourced(
        stage, rest.above(line)[0], about.measured[0], muted, (about.measured[1],)
    )


def _published(card: Card) -> tuple[str, ...]:
    """The document's own arithmetic, in more words or less."""
    document = DOCUMENT
    if card.peak:
        said = tr("1 TB/s brings 250 G floats/s: 250 GFLOP/s at ratio 1, 2 % of 12 TFLOP/s")
        return (
            f"{said} · {document}",
            said,
            tr("1 TB/s, 12 TFLOP/s · {document}", document=document),
            "1 TB/s, 12 TFLOP/s",
        )
    said = tr("150 GB/s allow 600 GFLOP/s with tiles of 16 × 16")
    return f"{said} · {document}", said, "150 GB/s"
