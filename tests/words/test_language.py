"""Texts and their translations: complete, with the same values, in the language asked for."""

import ast
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest

from gpuviz.arguments import parse
from gpuviz.base import resources
from gpuviz.base.errors import FormatError, InputError, KernelFault, LaunchError, UnsupportedError
from gpuviz.cli import main
from gpuviz.compile.log import failure
from gpuviz.course import lesson
from gpuviz.export.reading import read_any
from gpuviz.files import bounded
from gpuviz.ptx.emulator import emulate
from gpuviz.ptx.text.parser import parse as parse_ptx
from gpuviz.recordings import recording
from gpuviz.story.lesson import check_values
from gpuviz.words import language
from gpuviz.words.language import Catalogue, best, choose, languages, plural_rule, tr, trn
from tools import translation
from tools.translation import Text

OTHERS = [name for name in languages() if name != language.ENGLISH]


@pytest.fixture
def spanish() -> Iterator[None]:
    choose("es")
    yield
    choose(language.ENGLISH)


def test_there_is_a_spanish_catalogue() -> None:
    assert "es" in OTHERS


def test_every_catalogue_has_a_name_and_every_name_a_catalogue() -> None:
    """Else a list would show `fr`, or offer what is not there."""
    assert list(language.LANGUAGES) == [language.ENGLISH, *OTHERS]
    told = {name: resources.text(f"locale/{name}.json") for name in OTHERS}
    assert {name: json.loads(text)[""]["lang"] for name, text in told.items()} == dict(
        zip(OTHERS, OTHERS, strict=True)
    )


@pytest.mark.parametrize("language", OTHERS)
def test_catalogues_are_complete(language: str) -> None:
    gaps = translation.gaps(language, translation.texts())
    assert gaps.missing == (), f"run python -m tools.translation --missing {language}"
    assert gaps.stale == ()
    assert gaps.misfilled == ()


def test_tr_is_called_with_literals_or_with_data_that_is_collected() -> None:
    assert [use.place for use in translation.uses() if use.text is None and not use.shown] == []


def test_tr_is_not_called_while_a_module_is_imported() -> None:
    texts = {f: f.read_text(encoding="utf-8") for f in translation.PACKAGE.rglob("*.py")}
    early = [
        f"{file.name}:{node.lineno}"
        for file, text in texts.items()
        if "tr(" in text or "trn(" in text
        for node in _at_import(ast.parse(text))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("tr", "trn")
    ]
    assert early == [], "the language is chosen later"


def _at_import(tree: ast.AST) -> Iterator[ast.AST]:
    """Nodes that are executed when the module is imported."""
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield node
            yield from _at_import(node)


def test_texts_that_count_are_collected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "words.py").write_text(
        'def said(n): return trn("{n} line", "{n} lines", n)\n'
        'def bad(n, one): return trn(one, "{n} lines", n), trn("{n} line", one, n), trn(*one, n)\n'
    )
    monkeypatch.setattr(translation, "PACKAGE", tmp_path)
    found = [(use.text, use.plural) for use in translation.uses()]
    assert found == [("{n} line", "{n} lines"), (None, "{n} lines"), (None, None), (None, None)]


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
    closed = texts["by arithmetic: {count} sectors a load request of this warp"]
    assert closed.place.startswith("gpuviz/course/global_memory/coalescing/lesson.py:")
    assert "1000" not in texts


def test_what_a_catalogue_lacks_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = {
        "Coalescing": ("",),
        "no such text": ("x",),
        "{n} blocks": ("{m} bloques",),
        "{n} line": ("{n} línea",),
        "{n} warp": ("{n} warp", "warps"),
    }
    spanish = Catalogue(broken, plural_rule("nplurals=2; plural=(n != 1);"))
    monkeypatch.setattr(language, "catalogue", lambda name: spanish)
    wanted = {text: Text("there") for text in ("Coalescing", "Global memory", "{n} blocks")}
    counting = {one: Text("there", one + "s") for one in ("{n} line", "{n} warp")}
    wanted |= counting
    gaps = translation.gaps("es", wanted)
    assert gaps == translation.Gaps(
        ("Coalescing", "Global memory", "{n} line"), ("no such text",), ("{n} blocks", "{n} warp")
    )
    monkeypatch.setattr(translation, "texts", lambda: wanted)
    assert translation.main(["--missing", "es"]) == 1
    said = capsys.readouterr().out
    assert "no longer used: 'no such text'" in said
    assert "there\n  '{n} line', '{n} lines'" in said


def test_values_are_filled_in_and_unknown_texts_stay_english(spanish: None) -> None:
    assert tr("grid: {n} blocks", n=3) == "malla: 3 bloques"
    assert tr("never written, {n} times", n=2) == "never written, 2 times"


def test_a_number_takes_the_form_of_its_language(
    spanish: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    unknown = "{n} widget of {what}", "{n} widgets of {what}"
    said = [trn(*unknown, n, what="x") for n in (0, 1, 2)]
    assert said == ["0 widgets of x", "1 widget of x", "2 widgets of x"]
    assert trn(*unknown, 1024, what="x", n="1 024") == "1 024 widgets of x"
    forms = {"{n} block": ("{n} blok", "{n} bloki", "{n} bloków")}
    rule = "nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<12 || n%100>14) ? 1 : 2);"
    polish = Catalogue(forms, plural_rule(rule))
    monkeypatch.setattr(language, "catalogue", lambda name: polish)
    said = [trn("{n} block", "{n} blocks", n) for n in (1, 3, 12, 22)]
    assert said == ["1 blok", "3 bloki", "12 bloków", "22 bloki"]


def test_a_text_that_counts_has_one_plural_and_both_forms_name_the_same_values() -> None:
    plurals: dict[str | None, set[str | None]] = {}
    for use in translation.uses():
        plurals.setdefault(use.text, set()).add(use.plural)
    assert [text for text, many in plurals.items() if text and len(many) > 1] == []


@pytest.mark.parametrize(
    "text",
    ['{"a": "b"}', '{"": {"plural_forms": "nplurals=2"}}', '{"": {"plural_forms": 2}}', "[]", "{"],
)
def test_a_catalogue_that_is_damaged_is_an_error(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "xx.json").write_text(text)
    monkeypatch.setattr(language.resources, "path", lambda name: tmp_path / "xx.json")
    with pytest.raises(FormatError, match=r"the catalogue xx\.json cannot be read"):
        language.catalogue("xx")


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


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("f32=many", "Argumento 'f32=many': el valor 'many' no es un número."),
        ("i32[0]=zeros", "Argumento 'i32[0]=zeros': la cantidad '0' no es un entero mayor que 0."),
        ("u8=300", "Argumento 'u8=300': 300 no cabe en u8 (de 0 a 255)."),
    ],
)
def test_what_is_wrong_with_an_argument_is_said_in_the_language(
    spanish: None, text: str, said: str
) -> None:
    with pytest.raises(InputError) as wrong:
        parse(text)
    assert str(wrong.value) == said


def test_a_count_has_its_thousands_apart(spanish: None) -> None:
    assert trn("{n} thing", "{n} things", 12_345) == "12\u202f345 things"
    assert trn("{n} warp", "{n} warps", 2_048) == "2\u202f048 warps"
    assert trn("{n} warp", "{n} warps", 2_048, n="2 Ki") == "2 Ki warps"


def test_a_wrong_value_is_told_in_the_language_chosen(spanish: None) -> None:
    banks = lesson("banks")
    with pytest.raises(InputError, match="stride no puede ser 'x'; es un número entero"):
        check_values(banks, {"stride": "x"})
    with pytest.raises(InputError, match="la lección banks no tiene el parámetro 'nix'"):
        check_values(banks, {"nix": 1})


_PTX = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) {{
    .reg .b32 %r<4>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    {body}
    ret;
}}
"""


def _launched(body: str, arguments: Sequence[np.ndarray[Any, Any]]) -> None:
    emulate(
        parse_ptx(_PTX.format(body=body)), "k", (1, 1, 1), (32, 1, 1), arguments, names=("out",)
    )


def test_what_a_kernel_does_wrong_is_told_in_the_language_chosen(spanish: None) -> None:
    four = [np.zeros(4, np.uint32)]
    with pytest.raises(KernelFault) as fault:
        _launched("mov.u32 %r1, 0; st.global.u32 [%rd1+64], %r1;", four)
    assert str(fault.value).startswith("acceso ilegal a memoria global en ")
    assert "48 bytes más allá del final del búfer out (16 bytes)" in str(fault.value)
    assert str(fault.value).endswith("bloque (0, 0, 0), hilo (0, 0, 0)")
    with pytest.raises(UnsupportedError, match=r"no se admite: esta forma de la instrucción \("):
        _launched("shfl.sync.idx.b32 %r1, %r2, 1;", four)
    with pytest.raises(LaunchError, match="el kernel k toma 1 argumentos y se dieron 0"):
        _launched("", [])


def test_the_compilers_words_stay_its_own_in_a_sentence_of_ours(spanish: None) -> None:
    one = 'k.cu(3): error: identifier "x" is undefined'
    said = str(failure("k.cu", one))
    assert said.startswith("k.cu no compila (1 error):\n")
    assert 'identifier "x" is undefined' in said
    assert str(failure("k.cu", f"{one}\n{one.replace('3', '4')}")).startswith(
        "k.cu no compila (2 errores):\n"
    )


def test_a_file_that_is_none_is_told_in_the_language_chosen(spanish: None, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no se puede leer .*: no existe ese archivo o carpeta"):
        bounded.read(tmp_path / "none.cu")
    with pytest.raises(InputError, match=r"no se puede leer .*: es una carpeta"):
        bounded.read(tmp_path)
    with ZipFile(tmp_path / "other.zip", "w") as made:
        made.writestr("manifest.json", "{}")
    with pytest.raises(FormatError, match="no es ni una traza ni una grabación ni una captura"):
        read_any(tmp_path / "other.zip")
    with pytest.raises(FormatError, match="no es un archivo de gpuviz de la clase «grabación»"):
        recording.read(tmp_path / "other.zip")
