"""Texts and their translations: complete, with the same values, in the language asked for."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpuviz import language, translation
from gpuviz.cli import main
from gpuviz.errors import InputError
from gpuviz.language import best, choose, languages, tr

OTHERS = [name for name in languages() if name != language.ENGLISH]


@pytest.fixture
def spanish() -> Iterator[None]:
    choose("es")
    yield
    choose(language.ENGLISH)


def test_there_is_a_spanish_catalogue() -> None:
    assert "es" in OTHERS


@pytest.mark.parametrize("language", OTHERS)
def test_catalogues_are_complete(language: str) -> None:
    gaps = translation.gaps(language, translation.texts())
    assert gaps.missing == (), f"run python -m gpuviz.translation --missing {language}"
    assert gaps.stale == ()
    assert gaps.misfilled == ()


def test_tr_is_called_with_literals_or_with_data_that_is_collected() -> None:
    assert [use.place for use in translation.uses() if use.text is None and not use.shown] == []


def test_tr_is_not_called_while_a_module_is_imported() -> None:
    early = [
        f"{file.name}:{node.lineno}"
        for file in translation.PACKAGE.rglob("*.py")
        for node in _at_import(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "tr"
    ]
    assert early == [], "the language is chosen later"


def _at_import(tree: ast.AST) -> Iterator[ast.AST]:
    """Nodes that are executed when the module is imported."""
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield node
            yield from _at_import(node)


def test_texts_of_tables_are_collected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tabs.py").write_text(
        'TABS = {"ptx": later("Machine code")}\n\ndef title(key): return tr(TABS[key])\n'
        "def bad(key): return tr(key), later(key)\n"
    )
    monkeypatch.setattr(translation, "PACKAGE", tmp_path)
    found = [(use.text, use.shown) for use in translation.uses()]
    assert found == [("Machine code", False), (None, True), (None, False), (None, False)]


def test_texts_of_lessons_and_of_tr_calls_are_collected() -> None:
    texts = translation.texts()
    assert {"Coalescing", "Global memory", "threads per block", "Stride 32"} <= texts.keys()
    assert texts["closed form: {count} sectors a load request of this warp"].startswith(
        "gpuviz/scenes/coalescing.py:"
    )
    assert "1000" not in texts


def test_what_a_catalogue_lacks_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = {"Coalescing": "", "no such text": "x", "{n} blocks": "{m} bloques"}
    monkeypatch.setattr(language, "catalogue", lambda name: broken)
    wanted = {"Coalescing": "here", "Global memory": "there", "{n} blocks": "there"}
    gaps = translation.gaps("es", wanted)
    assert gaps == translation.Gaps(
        ("Coalescing", "Global memory"), ("no such text",), ("{n} blocks",)
    )
    monkeypatch.setattr(translation, "texts", lambda: wanted)
    assert translation.main(["--missing", "es"]) == 1
    assert "no longer used: 'no such text'" in capsys.readouterr().out


def test_values_are_filled_in_and_unknown_texts_stay_english(spanish: None) -> None:
    assert tr("{n} blocks", n=3) == "3 bloques"
    assert tr("never written, {n} times", n=2) == "never written, 2 times"


def test_a_language_is_chosen_by_locale() -> None:
    assert best(("es_MX.UTF-8",)) == best(("", "xx", "es-AR", "en-US")) == "es"
    assert best(("en-GB", "es")) == best(("xx",)) == best(()) == language.ENGLISH
    with pytest.raises(InputError, match="'xx'.*en, es"):
        choose("xx")


def test_the_course_is_listed_in_spanish(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        assert main(["list", "--language", "es"]) == 0
    finally:
        choose(language.ENGLISH)
    assert "Memoria global" in capsys.readouterr().out
