from gpuviz.results.table import Table, text


def test_a_table_of_numbers_is_markdown_and_csv_too() -> None:
    table = Table(("a|b", "n"), [("x\ny", 4096), ("z", None), ("w", 0.5)])
    assert table.markdown().splitlines() == [
        "| a\\|b | n |",
        "| --- | --: |",
        "| x y | 4,096 |",
        "| z | – |",
        "| w | 0.50 |",
    ]
    assert table.csv() == 'a|b,n\n"x\ny",4096\nz,\nw,0.5\n'


def test_columns_of_a_terminal_line_up_and_no_line_ends_in_blanks() -> None:
    shown = text(("name", "count", ""), [("a", "10", ""), ("long", "5", "seen")], ">1")
    assert shown.splitlines() == [
        "name  count",
        "----  -----  ----",
        "a        10",
        "long      5  seen",
    ]
    assert text(("a", ""), [("b", "")]).splitlines() == ["a", "-", "b"]
