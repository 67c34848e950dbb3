"""What formatter and linter do not hold: none of it skipped, and functions that fit a screen."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FILES = sorted(
    file for folder in ("gpuviz", "tools", "tests") for file in (ROOT / folder).rglob("*.py")
)
SKIPS = tuple("# fmt: " + word for word in ("skip", "off"))
SCREEN, MOST, LONG = 50, 80, 10


def test_no_line_is_kept_from_the_formatter() -> None:
    texts = {file: file.read_text(encoding="utf-8") for file in FILES}
    skipped = [file.name for file, text in texts.items() if any(one in text for one in SKIPS)]
    assert skipped == []


@pytest.fixture(scope="module")
def lengths() -> dict[str, int]:
    """Lines of each function of gpuviz above a screen."""
    found = {}
    for file in sorted((ROOT / "gpuviz").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > SCREEN:
                    found[f"{file.relative_to(ROOT)}:{node.lineno} {node.name}"] = lines
    return found


def test_no_function_is_longer_than_one_can_read(lengths: dict[str, int]) -> None:
    assert {name: lines for name, lines in lengths.items() if lines > MOST} == {}


def test_few_functions_are_longer_than_a_screen(lengths: dict[str, int]) -> None:
    assert len(lengths) <= LONG, lengths
