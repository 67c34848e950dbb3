"""A picture in words: what stands in it, in reading order, and what hovering its parts says."""

import re
from collections.abc import Iterator

from gpuviz.draw.hit import text_boxes
from gpuviz.draw.marks import Boxes, Curves, Frame, Lines, Mark, Outlines, Raster, Strokes, Texts

MOST = 400  # hints; more nobody reads


def lines(frame: Frame) -> tuple[str, ...]:
    """The texts of a frame from top to bottom, those beside each other in one line."""
    placed = sorted(
        (box[1] + box[3] / 2, box[0], box[3], text)
        for mark in frame.marks
        for box, text in _written(mark)
        if text.strip()
    )
    rows: list[list[tuple[float, str]]] = []
    at = -1e9
    for middle, x, height, text in placed:
        if middle - at > height / 2:
            rows.append([])
            at = middle
        rows[-1].append((x, text))
    return tuple(" · ".join(text for _, text in sorted(row)) for row in rows)


def _written(mark: Mark) -> Iterator[tuple[list[float], str]]:
    """Each text of a mark, with its box."""
    if isinstance(mark, Texts):
        yield from zip(text_boxes(mark).tolist(), mark.strings, strict=True)
    elif isinstance(mark, Outlines) and mark.said:
        low, high = mark.points.min(axis=(0, 1)), mark.points.max(axis=(0, 1))
        yield [*low.tolist(), *(high - low).tolist()], mark.said


def hints(frame: Frame, most: int = MOST) -> tuple[str, ...]:
    """What hovering the parts says, each once: lane 2 before lane 10."""
    found = {" · ".join(said.splitlines()) for said in _said(frame) if said.strip()}
    return tuple(sorted(found, key=_natural)[:most])


def _natural(said: str) -> list[tuple[int, str]]:
    """Sorts by words, and by numbers where there are any."""
    parts = re.split(r"(\d+)", said)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


def _said(frame: Frame) -> Iterator[str]:
    for mark in frame.marks:
        if isinstance(mark, Lines | Strokes | Outlines) or mark.tip is None:
            continue
        if isinstance(mark, Raster):
            rows, columns = mark.pixels.shape[:2]
            yield from (
                mark.tip(row, column)
                for row in range(min(rows, MOST))
                for column in range(min(columns, MOST // max(rows, 1) + 1))
            )
        else:
            yield from map(mark.tip, range(min(_count(mark), MOST)))


def _count(mark: Boxes | Curves | Texts) -> int:
    if isinstance(mark, Texts):
        return len(mark.strings)
    return len(mark.rect if isinstance(mark, Boxes) else mark.points)
