"""Which characters of CUDA, PTX and SASS text look how: Pygments tells the tokens."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, ClassVar

from pygments.lexer import RegexLexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Token

# Token types by how they look; the most special type found wins.
_STYLES: Mapping[Any, tuple[str, bool]] = {
    Token.Comment: ("faint", False),
    Token.Comment.Preproc: ("shared", False),
    Token.Keyword: ("accent", False),
    Token.Keyword.Type: ("load", False),
    Token.Name.Builtin: ("store", False),
    Token.Name.Function: ("ink", True),
    Token.Name.Label: ("compute", False),
    Token.Literal.Number: ("compute", False),
    Token.Literal.String: ("good", False),
    Token.Operator: ("muted", False),
    Token.Punctuation: ("muted", False),
    Token.Generic.Deleted: ("bad", False),
    Token.Generic.Inserted: ("good", False),
    Token.Generic.Subheading: ("muted", False),
}
Span = tuple[int, int, str, bool]  # start and length in the line, colour name, bold


class SassLexer(RegexLexer):  # type: ignore[misc]
    """Machine code as `code_text.sass` writes it: labels, addresses, predicates, opcodes."""

    name = "SASS"
    tokens: ClassVar[Any] = {
        "root": [
            (r"^\S+:", Token.Name.Label),
            (r"/\*.*?\*/", Token.Comment),
            (r"@!?U?P\w+", Token.Keyword.Type),
            (r"\b(?:LD|ST|ATOM|RED|ULDC)[A-Z]*(?:\.[\w.]+)?\b", Token.Name.Builtin),
            (r"\b(?:BAR|WARPSYNC|BSSY|BSYNC|BRA|EXIT|RET|CALL)[\w.]*", Token.Keyword),
            (r"\b[A-Z][A-Z0-9]*(?:\.[\w.]+)?(?=\s|$)", Token.Name.Function),
            (r"-?0x[0-9a-f]+|\b\d+\b", Token.Literal.Number),
            (r"\w+|\s+", Token.Text),
            (r".", Token.Punctuation),
        ]
    }


def _lexer(language: str) -> Any:
    if language == "sass":
        return SassLexer(stripnl=False, ensurenl=False)
    return get_lexer_by_name(language, stripnl=False, ensurenl=False)


@lru_cache(maxsize=32)
def spans(text: str, language: str) -> list[list[Span]]:
    """For each line, which of its characters look how; kept, not to be changed."""
    lines: list[list[Span]] = [[]]
    at = 0
    for token, value in _lexer(language).get_tokens(text + "\n"):  # a comment ends at a line's end
        style = _style(token)
        for i, part in enumerate(value.split("\n")):
            if i:
                lines.append([])
                at = 0
            if style and part:
                lines[-1].append((at, len(part), *style))
            at += len(part)
    return lines[:-1]


def _style(token: Any) -> tuple[str, bool] | None:
    while token is not None:
        if token in _STYLES:
            return _STYLES[token]
        token = token.parent
    return None
