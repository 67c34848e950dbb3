"""The table of counts for people: its words come from the catalogue, its thousands are apart."""

from collections.abc import Iterator

import pytest

from gpuviz.course import lesson
from gpuviz.results.rows import named, summary
from gpuviz.words import language
from tests.course.performed import performed


@pytest.fixture
def spanish() -> Iterator[None]:
    language.choose("es")
    yield
    language.choose(language.ENGLISH)


def test_the_exported_table_is_in_the_language_in_use(spanish: None) -> None:
    """Its rows and heads were English whatever was chosen."""
    table = summary(performed(lesson("coalescing"), {"blocks": 64}).runs)
    assert table.columns[0] == "cantidad" and "(modelado)" in table.columns[1]
    assert "Memoria global: sectores de carga" in [row[0] for row in table.rows]


def test_every_count_has_words_and_thousands_are_thin() -> None:
    assert named("global_load_sectors_ideal") == "Global memory: load sectors, ideal"
    assert named("median_us") == "median time, µs" and named("nobody_knows") == "nobody knows"
    assert named("stalled_long_scoreboard") == "stalled, cycles an instruction: long scoreboard"
    assert named("waits_memory") == "waits, cycles an instruction: global memory"
    table = summary(performed(lesson("coalescing"), {"blocks": 4096}).runs)
    cells = [cell for row in table.rows for cell in row[1:]]
    assert any("\u202f" in cell for cell in cells) and not any("," in cell for cell in cells)
