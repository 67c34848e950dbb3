"""Rooms and their budgets: counted, compared, and kept."""

from pathlib import Path

import pytest

from tools import size
from tools.size import Size


def test_every_room_is_within_its_budget() -> None:
    found = size.sizes(size.ROOT / "gpuviz")
    allowed = size.budgets(size.BUDGET.read_text(encoding="utf-8"))
    above = [*size.excesses(found, allowed)]
    assert not above, f"{above}: make it smaller, or raise tools/budget.toml and say why"


def test_budgets_of_rooms_add_up_to_no_more_than_that_of_the_house() -> None:
    """Else each could be kept, and the house grow."""
    allowed = size.budgets(size.BUDGET.read_text(encoding="utf-8"))
    house = allowed.pop(size.ALL)
    total = sum(allowed.values(), Size(0, 0))
    assert total.lines <= house.lines and total.files <= house.files


def test_rooms_are_counted_with_what_is_in_them(tmp_path: Path) -> None:
    for name, lines in (("__init__", 1), ("app", 3), ("qt/window/main", 5), ("qt/look", 2)):
        file = tmp_path / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x = 1\n" * lines, encoding="utf-8")
    (tmp_path / "qt" / "notes.txt").write_text("no Python\n", encoding="utf-8")
    assert size.sizes(tmp_path) == {".": Size(4, 2), "qt": Size(7, 2), "gpuviz": Size(11, 4)}


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        ("qt = { lines = 7, files = 2 }", []),
        ("qt = { lines = 6, files = 2 }", ["qt: 7 lines, 1 above the 6 of its budget"]),
        ("qt = { lines = 7, files = 1 }", ["qt: 2 files, 1 above the 1 of its budget"]),
        ("", ["qt has no budget in budget.toml: 7 lines, 2 files"]),
        (
            "qt = { lines = 9, files = 2 }\nptx = { lines = 1, files = 1 }",
            ["ptx has a budget in budget.toml, and is not there"],
        ),
    ],
)
def test_what_is_above_a_budget_is_told(budget: str, said: list[str]) -> None:
    assert [*size.excesses({"qt": Size(7, 2)}, size.budgets(budget))] == said


def test_the_command_fails_above_a_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(size, "BUDGET", tmp_path / "budget.toml")
    size.BUDGET.write_text("gpuviz = { lines = 10, files = 1 }\n", encoding="utf-8")
    assert size.main() == 1
    assert "above the 10 of its budget" in capsys.readouterr().out
