"""Markdown as blocks: paragraphs, headings, lists, code, formulas, pictures, tables.

CommonMark with tables and `$formulas$`, read by markdown-it; HTML in it stays text, links are
underlined and lead nowhere, and a line ends where its author ended it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Literal
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin

Kind = Literal["text", "code", "formula", "break"]
LONGEST = 1 << 14  # letters of a slide; no wall has room for more
_FORMULAS = 3000  # letters of its formulas together: what is beyond stands as it was written
_ROWS, _COLUMNS = 60, 20  # of a table, and _MOST blocks: more than can be seen on a wall
_MOST = 400
_DEEPEST = 20  # quotes and lists within each other


@dataclass(frozen=True)
class Span:
    """A part of a line in one look; a formula's text is its TeX."""

    text: str
    kind: Kind = "text"
    strong: bool = False
    stressed: bool = False
    link: bool = False


@dataclass(frozen=True)
class Block:
    """What stands by itself: `depth` lists or quotes around it, each moving it to the right.

    `mark` is what stands before it, the dot or number of a list's item.
    """

    depth: int = 0
    mark: str = ""
    quoted: bool = False


@dataclass(frozen=True)
class Paragraph(Block):
    """Flowing text; a heading of a level from 1 on, 0 for none."""

    spans: tuple[Span, ...] = ()
    level: int = 0


@dataclass(frozen=True)
class Code(Block):
    """Lines of code in a language, "" where none is named."""

    text: str = ""
    language: str = ""


@dataclass(frozen=True)
class Formula(Block):
    """A formula on a line of its own, in TeX."""

    tex: str = ""


@dataclass(frozen=True)
class Picture(Block):
    """A picture by the name its author gave it; `instead` is read to those who cannot see it."""

    name: str = ""
    instead: str = ""


@dataclass(frozen=True)
class Table(Block):
    """Rows of cells, the first of them the head; `right` are the columns aligned to the right."""

    rows: tuple[tuple[tuple[Span, ...], ...], ...] = ()
    right: tuple[bool, ...] = ()


@dataclass(frozen=True)
class Rule(Block):
    """A line across."""


@lru_cache(maxsize=256)
def blocks(text: str) -> tuple[Block, ...]:
    """The blocks of a text, in order."""
    tokens = _reader().parse(text[:LONGEST])
    return tuple(islice(_Parser(tokens).blocks(), _MOST))


def lines(text: str) -> tuple[Block, ...]:
    """Words that are no Markdown, line by line as they are."""
    every = text[:LONGEST].split("\n")
    ends = (Span("", "break"),)
    spans = tuple(s for line in every for s in (*ends, Span(" ".join(line.split()))))
    return (Paragraph(spans=spans[1:]),)


def pictures(text: str) -> tuple[str, ...]:
    """The names of the pictures in a text, each once."""
    if "![" not in text:
        return ()
    return tuple(dict.fromkeys(b.name for b in blocks(text) if isinstance(b, Picture)))


def formulas(text: str) -> tuple[str, ...]:
    """The formulas in a text, in TeX, each once."""
    if "$" not in text:
        return ()
    return tuple(dict.fromkeys(_formulas(blocks(text))))


def _formulas(found: Iterable[Block]) -> Iterator[str]:
    for block in found:
        if isinstance(block, Formula):
            yield block.tex
        elif isinstance(block, Paragraph):
            yield from (span.text for span in block.spans if span.kind == "formula")
        elif isinstance(block, Table):
            cells = (span for row in block.rows for cell in row for span in cell)
            yield from (span.text for span in cells if span.kind == "formula")


def _reader() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False, "maxNesting": _DEEPEST}).enable("table")
    return made.disable(["html_block", "html_inline"]).use(dollarmath_plugin, allow_digits=False)


class _Parser:
    """Goes through the tokens once; what is open is kept as it goes."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._numbers: list[int | None] = []  # of the lists that are open, None without numbers
        self._quotes = 0
        self._mark = ""
        self._level = 0
        self._rows: list[list[tuple[Span, ...]]] = []
        self._right: list[bool] = []
        self._left = _FORMULAS

    def blocks(self) -> Iterator[Block]:
        """Each block when it is over."""
        for token in self._tokens:
            yield from self._token(token)

    def _token(self, token: Token) -> Iterator[Block]:
        match token.type:
            case "bullet_list_open":
                self._numbers.append(None)
            case "ordered_list_open":
                self._numbers.append(int(token.attrGet("start") or 1))
            case "bullet_list_close" | "ordered_list_close":
                self._numbers.pop()
            case "list_item_open":
                self._item()
            case "blockquote_open":
                self._quotes += 1
            case "blockquote_close":
                self._quotes -= 1
            case "heading_open":
                self._level = int(token.tag[1:])
            case "heading_close":
                self._level = 0
            case "inline":
                yield from self._inline(token)
            case "fence" | "code_block":
                language = (token.info or "").split()
                text = token.content.rstrip("\n")
                yield self._placed(Code(text=text, language=language[0] if language else ""))
            case "math_block" | "math_block_label":
                tex = token.content.strip()
                yield self._placed(Formula(tex=tex) if self._affords(tex) else Code(text=tex))
            case "hr":
                yield self._placed(Rule())
            case "table_open":
                self._rows, self._right = [], []
            case "tr_open":
                self._rows.append([])
            case "th_open":
                self._right.append("right" in str(token.attrGet("style") or ""))
            case "table_close":
                rows = tuple(tuple(row[:_COLUMNS]) for row in self._rows[:_ROWS])
                yield self._placed(Table(rows=rows, right=tuple(self._right[:_COLUMNS])))
                self._rows = []

    def _item(self) -> None:
        number = self._numbers[-1]
        self._mark = "•" if number is None else f"{number}."
        if number is not None:
            self._numbers[-1] = number + 1

    def _placed(self, block: Block) -> Block:
        """Where it stands; the mark of an item is set before its first block."""
        mark, self._mark = self._mark, ""
        depth = len(self._numbers) + self._quotes
        return replace(block, depth=depth, mark=mark, quoted=self._quotes > 0)

    def _affords(self, tex: str) -> bool:
        """Whether there is time to draw one more formula."""
        self._left -= len(tex)
        return self._left >= 0

    def _inline(self, token: Token) -> Iterator[Block]:
        """A paragraph; pictures in it stand by themselves, and so does what is around them."""
        parts = [
            replace(s, kind="code")
            if isinstance(s, Span) and s.kind == "formula" and not self._affords(s.text)
            else s
            for s in _spans(token)
        ]
        if self._rows:
            self._rows[-1].append(tuple(s for s in parts if isinstance(s, Span)))
            return
        line: list[Span] = []
        for part in (*parts, None):
            if isinstance(part, Span):
                line.append(part)
                continue
            if any(span.text.strip() for span in line):
                yield self._placed(Paragraph(spans=tuple(line), level=self._level))
            line = []
            if part is not None:
                yield self._placed(part)


def _spans(token: Token) -> Iterator[Span | Picture]:
    """The parts of a line."""
    look = Span("")
    for inner in token.children or ():
        match inner.type:
            case "text" | "text_special":
                yield replace(look, text=inner.content)
            case "code_inline":
                yield replace(look, text=inner.content, kind="code")
            case "math_inline" | "math_inline_double":
                yield Span(inner.content, "formula")
            case "softbreak" | "hardbreak":
                yield Span("", "break")
            case "strong_open" | "strong_close":
                look = replace(look, strong=inner.nesting > 0)
            case "em_open" | "em_close":
                look = replace(look, stressed=inner.nesting > 0)
            case "link_open" | "link_close":
                look = replace(look, link=inner.nesting > 0)
            case "image":
                yield Picture(name=unquote(str(inner.attrGet("src") or "")), instead=inner.content)
