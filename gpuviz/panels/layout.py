"""Panels in rows and columns with shares, as data; what has no room is left out, by rank.

rows(lanes, shares, counted, spare(published))
columns(share(2, matrix), rows(banks, table))
first(columns(a, b), rows(a, b), a)      # the first that fits
first(at_least(columns(a, b), height=20), a)
largest(columns(a, b), rows(a, b))       # the one in which panels come out largest

What a panel of a fixed shape leaves of its part goes to those after it that have a share, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from gpuviz.base.keeping import kept_with_first
from gpuviz.draw.layout import Rect
from gpuviz.draw.stage import Stage
from gpuviz.panels.panel import Need, Panel

_EPSILON = 0.5  # pixels


@dataclass(frozen=True, eq=False)
class Part:
    """A node in a row or column: its share of what is left over (None: its own), and its rank.

    Parts of rank 0 are always there; of the others the highest goes first where there is no room.
    """

    node: Node
    share: float | None = None
    rank: int = 0

    @property
    def weight(self) -> float:
        """Its share of what is left over."""
        return _share(self.node) if self.share is None else self.share


@dataclass(frozen=True, eq=False)
class Line:
    """Parts below each other (`across` False) or side by side; `gap` in letters between them."""

    parts: tuple[Part, ...]
    across: bool
    gap: float


@dataclass(frozen=True, eq=False)
class First:
    """The first of several layouts that fits; the last one where none does."""

    nodes: tuple[Node, ...]


@dataclass(frozen=True, eq=False)
class Largest:
    """Of several layouts that fit (of all, where none does) the one in which the panels that ask
    for it come out largest.
    """

    nodes: tuple[Node, ...]


@dataclass(frozen=True, eq=False)
class AtLeast:
    """A node for areas of so many letters, at least `aspect` times as wide as high."""

    node: Node
    height: float
    width: float
    aspect: float


Node = Panel | Line | First | Largest | AtLeast


def rows(*nodes: Node | Part, gap: float = 0.0) -> Line:
    """Nodes from top to bottom."""
    return Line(tuple(map(_part, nodes)), False, gap)


def columns(*nodes: Node | Part, gap: float = 1.5) -> Line:
    """Nodes from left to right."""
    return Line(tuple(map(_part, nodes)), True, gap)


def first(*nodes: Node) -> First:
    """The first of the nodes that fits."""
    return First(nodes)


def largest(*nodes: Node) -> Largest:
    """The one of the nodes in which panels come out largest (`Panel.zoom`), of equals the first."""
    return Largest(nodes)


def at_least(node: Node, height: float = 0.0, width: float = 0.0, aspect: float = 0.0) -> AtLeast:
    """A node that only fits areas so many letters high and wide, `aspect` times as wide as high."""
    return AtLeast(node, height, width, aspect)


def share(weight: float, node: Node | Part) -> Part:
    """A node that takes a part of the room that is left over, by weight."""
    return replace(_part(node), share=weight)


def spare(node: Node | Part, rank: int = 1) -> Part:
    """A node that is left out where there is no room for it."""
    return replace(_part(node), rank=rank)


def _part(node: Node | Part) -> Part:
    return node if isinstance(node, Part) else Part(node)


def _share(node: Node) -> float:
    if isinstance(node, Panel):
        return node.share
    if isinstance(node, AtLeast):
        return _share(node.node)
    if isinstance(node, First | Largest):
        return max(_share(one) for one in node.nodes)
    return max((part.weight for part in node.parts), default=0.0)


@kept_with_first(16)  # while a picture is placed, nodes are asked again and again
def need(node: Node, stage: Stage, width: float) -> Need:
    """The room a node needs without its spare parts, being so wide."""
    if isinstance(node, Panel):
        return node.need(stage, width)
    if isinstance(node, AtLeast):
        inner, size = need(node.node, stage, width), stage.text(14)
        high, wide = node.height * size, node.width * size
        return Need(max(inner.height, high), max(inner.least, high), max(inner.width, wide))
    if isinstance(node, First):
        return need(node.nodes[-1], stage, width)
    if isinstance(node, Largest):
        every = [need(one, stage, width) for one in node.nodes]
        return Need(
            min(n.height for n in every), min(n.least for n in every), min(n.width for n in every)
        )
    kept = [part for part in node.parts if not part.rank]
    gaps = node.gap * stage.text(14) * max(len(kept) - 1, 0)
    if not node.across:
        each = [need(part.node, stage, width) for part in kept]
        return Need(
            sum(n.height for n in each) + gaps,
            sum(n.least for n in each) + gaps,
            max((n.width for n in each), default=0.0),
        )
    spans = _widths(node, kept, stage, width)
    each = [need(part.node, stage, span) for part, span in zip(kept, spans, strict=True)]
    return Need(
        max((n.height for n in each), default=0.0),
        max((n.least for n in each), default=0.0),
        sum(n.width for n in each) + gaps,
    )


def fits(node: Node, stage: Stage, area: Rect) -> bool:
    """Whether a node without its spare parts has the room that it needs at least."""
    if isinstance(node, AtLeast) and area.width < area.height * node.aspect:
        return False
    if isinstance(node, First | Largest):
        return any(fits(one, stage, area) for one in node.nodes)
    wanted = need(node, stage, area.width)
    return wanted.least <= area.height + _EPSILON and wanted.width <= area.width + _EPSILON


def place(node: Node, stage: Stage, area: Rect) -> Iterator[tuple[Panel, Rect]]:
    """Every panel that is shown, with its area."""
    if isinstance(node, Panel):
        yield node, area
    elif isinstance(node, AtLeast):
        yield from place(node.node, stage, area)
    elif isinstance(node, First):
        fitting = (one for one in node.nodes if fits(one, stage, area))
        yield from place(next(fitting, node.nodes[-1]), stage, area)
    elif isinstance(node, Largest):
        fitting = (one for one in node.nodes if fits(one, stage, area))
        yield from max(
            [list(place(one, stage, area)) for one in tuple(fitting) or node.nodes],
            key=lambda placed: sum(panel.zoom(stage, piece) for panel, piece in placed),
        )
    else:
        kept = _kept(node, stage, area)
        for part, piece in zip(kept, _cut(node, kept, stage, area), strict=True):
            yield from place(part.node, stage, piece)


def panels(node: Node) -> Iterator[Panel]:
    """Every panel of a node, those included for which there may be no room."""
    if isinstance(node, Panel):
        yield node
    elif isinstance(node, AtLeast):
        yield from panels(node.node)
    elif isinstance(node, First | Largest):
        for one in node.nodes:
            yield from panels(one)
    else:
        for part in node.parts:
            yield from panels(part.node)


def _kept(line: Line, stage: Stage, area: Rect) -> list[Part]:
    """The parts that have room."""
    kept = list(line.parts)
    while True:
        over = sum(_leasts(line, kept, stage, area)) + _gaps(line, kept, stage)
        over -= area.width if line.across else area.height
        dropped = max((part for part in kept if part.rank), key=lambda p: p.rank, default=None)
        if over <= _EPSILON or dropped is None:
            return kept
        kept.remove(dropped)


def _cut(line: Line, kept: list[Part], stage: Stage, area: Rect) -> Iterator[Rect]:
    """The areas of the parts; each is measured when it is known what those before it have left."""
    gap, rest = line.gap * stage.text(14), area
    for i, part in enumerate(kept):
        span = _lengths(line, kept[i:], stage, rest)[0]
        piece = rest._replace(**{"width" if line.across else "height": span})
        yield piece
        if i == len(kept) - 1:
            return
        elastic = part.weight and any(later.weight for later in kept[i + 1 :])
        used = _used(part.node, stage, piece) if elastic else piece
        rest = rest.beside(used.width, gap)[1] if line.across else rest.above(used.height, gap)[1]


def _lengths(line: Line, parts: list[Part], stage: Stage, area: Rect) -> list[float]:
    """How wide the parts are, or how high."""
    if line.across:
        return _widths(line, parts, stage, area.width)
    wishes = [need(part.node, stage, area.width).height for part in parts]
    free, weight = area.height - _gaps(line, parts, stage), [part.weight for part in parts]
    return _spans(_leasts(line, parts, stage, area), wishes, weight, free)


def _used(node: Node, stage: Stage, area: Rect) -> Rect:
    """What a node takes of its area."""
    pieces = [panel.used(stage, piece) for panel, piece in place(node, stage, area)]
    right = max((piece.right for piece in pieces), default=area.x)
    bottom = max((piece.bottom for piece in pieces), default=area.y)
    return Rect(area.x, area.y, right - area.x, bottom - area.y)


def _leasts(line: Line, parts: list[Part], stage: Stage, area: Rect) -> list[float]:
    if line.across:
        return [need(part.node, stage, area.width).width for part in parts]
    return [need(part.node, stage, area.width).least for part in parts]


def _gaps(line: Line, parts: list[Part], stage: Stage) -> float:
    return line.gap * stage.text(14) * max(len(parts) - 1, 0)


def _widths(line: Line, parts: list[Part], stage: Stage, width: float) -> list[float]:
    """How wide parts side by side are: the least that each needs, the rest by shares."""
    least = [need(part.node, stage, width).width for part in parts]
    weight = [part.weight for part in parts]
    return _spans(least, least, weight, width - _gaps(line, parts, stage))


def _spans(least: list[float], wish: list[float], weight: list[float], free: float) -> list[float]:
    """Lengths that add up to `free` where a part has a weight: wishes first, the rest by weight.

    Where wishes are too many, everything above the least shrinks alike; where even the least is,
    parts with a weight give way.
    """
    if sum(least) > free:
        elastic = sum(low for low, w in zip(least, weight, strict=True) if w)
        part = max(1 - (sum(least) - free) / elastic, 0.0) if elastic else 1.0
        return [low * part if w else low for low, w in zip(least, weight, strict=True)]
    if sum(wish) > free:
        spare = sum(wish) - sum(least)
        part = (free - sum(least)) / spare if spare > 0 else 0.0
        return [low + (high - low) * part for low, high in zip(least, wish, strict=True)]
    if not any(weight):
        return wish
    return _shared(wish, weight, free)


def _shared(wish: list[float], weight: list[float], free: float) -> list[float]:
    """`free` by weight among those that have one, but nobody less than its wish."""
    content = {i for i, w in enumerate(weight) if not w}
    while True:
        left = free - sum(wish[i] for i in content)
        total = sum(w for i, w in enumerate(weight) if i not in content)
        given = [wish[i] if i in content else left * w / total for i, w in enumerate(weight)]
        short = {i for i, span in enumerate(given) if span < wish[i] - 1e-9} - content
        if not short:
            return given
        content |= short
