"""`(4,(2,8)):(2,(1,16))`: a shape, and how far apart neighbours along each of its modes lie.

The first mode of a shape counts fastest. Source of the rules: NVIDIA CUTLASS, "CuTe Layouts" and
"CuTe Layout Algebra" (media/docs/cpp/cute/01_layout.md, 02_layout_algebra.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from gpuviz.base.arrays import I64
from gpuviz.base.errors import InputError

Tree = int | tuple["Tree", ...]
_TOKEN = re.compile(r"\s*(?:(\d+)|([(),:]))")
_LONGEST, _DEEPEST, _LARGEST = 200, 8, 1 << 20  # letters, brackets, elements or an offset
HINT = "write shape:stride, such as (8,64):(64,1)"


@dataclass(frozen=True)
class Layout:
    """A shape and strides of the same structure."""

    shape: Tree
    stride: Tree

    @classmethod
    def parse(cls, text: str) -> Layout:
        """The layout of a text; without strides it is compact, its first mode the fastest.

        Raises
        ------
        InputError : it is none, or a very large one
        """
        shape, stride = _Reader(text).read()
        made = cls(shape, _compact(shape) if stride is None else stride)
        if not _alike(made.shape, made.stride):
            raise InputError(
                f"the layout {text}: shape and stride differ in structure; give each number of "
                "the shape one stride"
            )
        if min(leaves(made.shape)) < 1:
            raise InputError(f"the layout {text}: a shape has no 0; give at least 1")
        if made.size > _LARGEST or made.cosize > _LARGEST:
            raise InputError(
                f"the layout {text} has {made.size} elements up to offset {made.cosize - 1}: "
                f"at most {_LARGEST} are drawn"
            )
        return made

    def __str__(self) -> str:
        return f"{_written(self.shape)}:{_written(self.stride)}"

    @property
    def size(self) -> int:
        """How many coordinates it has."""
        return prod(leaves(self.shape))

    @property
    def cosize(self) -> int:
        """One more than its largest offset."""
        return 1 + sum((n - 1) * d for n, d in self.flat)

    @property
    def flat(self) -> tuple[tuple[int, int], ...]:
        """Each number of the shape with its stride, without brackets."""
        return tuple(zip(leaves(self.shape), leaves(self.stride), strict=True))

    @property
    def modes(self) -> tuple[Layout, ...]:
        """Its parts: one for each number or bracket of the outermost shape."""
        if isinstance(self.shape, int):
            return (self,)
        assert isinstance(self.stride, tuple)
        return tuple(map(Layout, self.shape, self.stride))

    def offsets(self) -> I64:
        """(size,) the offset of each coordinate, the first mode counting fastest."""
        made = np.zeros(1, np.int64)
        for count, stride in self.flat:
            made = (np.arange(count)[:, None] * stride + made).ravel()
        return made

    def table(self) -> I64:
        """(rows, columns) of a layout of two modes: the offset of each place."""
        rows, columns = self.modes
        return rows.offsets()[:, None] + columns.offsets()

    @property
    def one_to_one(self) -> bool:
        """Whether no two coordinates have one offset."""
        found = self.offsets()
        return len(np.unique(found)) == len(found)

    def coalesced(self) -> Layout:
        """The same offsets with as few modes as can be, without brackets in brackets."""
        kept: list[tuple[int, int]] = []
        for count, stride in self.flat:
            if count == 1:
                continue
            if kept and kept[-1][0] * kept[-1][1] == stride:
                kept[-1] = kept[-1][0] * count, kept[-1][1]
            else:
                kept.append((count, stride))
        return _of_pairs(kept)


def compose(outer: Layout, inner: Layout) -> Layout:
    """The layout of `outer(inner(c))`, with the shape of `inner`.

    Raises
    ------
    InputError : it is no layout: a stride or a shape does not divide
    """
    if isinstance(inner.shape, tuple):
        parts = [compose(outer, mode) for mode in inner.modes]
        return Layout(tuple(p.shape for p in parts), tuple(p.stride for p in parts))
    (left, step), kept = inner.flat[0], list[tuple[int, int]]()
    if not step:
        return inner
    *most, last = outer.coalesced().flat
    for count, stride in most:
        if count % step and step % count:
            raise InputError(_torn(outer, inner))
        taken = min(max(1, count // step), left)
        if left % taken:
            raise InputError(_torn(outer, inner))
        if taken > 1:
            kept.append((taken, step * stride))
        left, step = left // taken, -(-step // count)
    if left > 1 or not kept:
        kept.append((left, step * last[1]))
    return _of_pairs(kept)


def _torn(outer: Layout, inner: Layout) -> str:
    return f"{outer} after {inner} is no layout: its parts do not divide; take other shapes"


def leaves(tree: Tree) -> tuple[int, ...]:
    """The numbers of a tree, from left to right."""
    if isinstance(tree, int):
        return (tree,)
    return tuple(n for part in tree for n in leaves(part))


def _of_pairs(pairs: list[tuple[int, int]]) -> Layout:
    if len(pairs) < 2:
        return Layout(*(pairs[0] if pairs else (1, 0)))
    shape, stride = zip(*pairs, strict=True)
    return Layout(shape, stride)


def _compact(shape: Tree) -> Tree:
    """Strides without gaps, the first mode the fastest."""
    strides = iter(np.cumprod((1, *leaves(shape)[:-1])).tolist())

    def like(tree: Tree) -> Tree:
        return next(strides) if isinstance(tree, int) else tuple(map(like, tree))

    return like(shape)


def _alike(one: Tree, other: Tree) -> bool:
    if isinstance(one, int) or isinstance(other, int):
        return isinstance(one, int) and isinstance(other, int)
    return len(one) == len(other) and all(map(_alike, one, other))


def _written(tree: Tree) -> str:
    return str(tree) if isinstance(tree, int) else f"({','.join(map(_written, tree))})"


class _Reader:
    """Reads one layout, token by token."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(self._split(text))

    def _split(self, text: str) -> Iterator[str]:
        rest = text.strip()
        if not rest or len(rest) > _LONGEST:
            raise self._wrong()
        while rest:
            found = _TOKEN.match(rest)
            if found is None:
                raise self._wrong()
            yield found[1] or found[2]
            rest = rest[found.end() :].rstrip()

    def _wrong(self) -> InputError:
        return InputError(f"{self._text[:_LONGEST]!r} is no layout: {HINT}")

    def read(self) -> tuple[Tree, Tree | None]:
        """The shape, and the strides if they are given."""
        shape, stride = self._tree(0), None
        if self._tokens:
            self._take(":")
            stride = self._tree(0)
        if self._tokens:
            raise self._wrong()
        return shape, stride

    def _take(self, *wanted: str) -> str:
        if not self._tokens or (wanted and self._tokens[0] not in wanted):
            raise self._wrong()
        return self._tokens.pop(0)

    def _tree(self, depth: int) -> Tree:
        token = self._take()
        if token.isdigit() and len(token) < 9:
            return int(token)
        if token != "(" or depth == _DEEPEST:
            raise self._wrong()
        parts = [self._tree(depth + 1)]
        while self._take(",", ")") == ",":
            parts.append(self._tree(depth + 1))
        return tuple(parts)


@dataclass(frozen=True)
class Swizzle:
    """`bits`, `base` and `shift` are B, M and S; a negative S takes its bits from below."""

    bits: int
    base: int
    shift: int

    def __str__(self) -> str:
        return f"Swizzle<{self.bits},{self.base},{self.shift}>"

    @property
    def source(self) -> range:
        """The bits that are looked at."""
        first = self.base + max(self.shift, 0)
        return range(first, first + self.bits)

    @property
    def target(self) -> range:
        """The bits that change."""
        first = self.base - min(self.shift, 0)
        return range(first, first + self.bits)

    def __call__(self, offset: I64) -> I64:
        """Offsets of any shape to those of the swizzled layout; it is its own inverse."""
        mask = ((1 << self.bits) - 1) << self.source.start
        seen = offset & mask
        moved = seen >> self.shift if self.shift >= 0 else seen << -self.shift
        return np.asarray(offset ^ moved, np.int64)

    def in_bytes(self, element: int) -> Swizzle:
        """What a swizzle of elements does to offsets in bytes; `element` bytes, a power of two."""
        return replace(self, base=self.base + element.bit_length() - 1)

    def in_elements(self, element: int) -> Swizzle:
        """The same of elements, for a swizzle of bytes."""
        return replace(self, base=self.base - element.bit_length() + 1)


NONE = Swizzle(0, 4, 3)
# Of the tensor memory accelerator, by the bytes of its span: swizzles of offsets in bytes.
TMA = {0: NONE, 32: Swizzle(1, 4, 3), 64: Swizzle(2, 4, 3), 128: Swizzle(3, 4, 3)}
