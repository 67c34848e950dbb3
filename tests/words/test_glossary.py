"""The glossary: complete for the code and the lessons, and its links lead somewhere."""

import ast
import inspect
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

import pytest

from gpuviz import memory
from gpuviz.base import resources
from gpuviz.base.errors import FormatError, InputError
from gpuviz.course import SCENES
from gpuviz.traces import observe
from gpuviz.words import glossary

ENTRIES = glossary.entries()

# Classes that are machinery: they carry things the glossary explains, and are no term themselves.
MACHINERY = {
    "Sink",  # whatever listens to accesses
    "Listeners",
    "Many",  # accesses that were folded into one
    "Coverage",  # which of a launch's blocks were run
    "Lanes",
    "Warps",
    "Place",
    "Spread",  # a text with every expression on a line of its own
    "At",
    "Values",  # what a store is about to write
    "BarrierEvent",  # who waits for whom at a barrier
    "PhaseEvent",  # who arrives at an mbarrier, and who waits there
    "Transfer",  # what is moved, or read, asynchronously
    "Runs",  # which bytes side by side a box is made of
    "BulkCopies",  # sums of them
    "WarpSync",
    "Sums",
    "Rows",
    "Patterns",  # requests that look alike, counted once
    "Strip",  # the transactions of one request, in their places
    "ServedRequest",  # the turns of one request
    "Deliveries",
    "AccessCost",
    "LineCost",
    "Reason",  # why an access costs more than it could
    "Evidence",
    "LaneSteps",
    "Rule",  # how a family of architectures serves requests
    "Unit",  # names of quantities
    "DerivedCount",
    "Hardware",
    "Names",
}


def modules() -> list[ModuleType]:
    """The seam, what can be observed, and the memory model."""
    names = [f"{memory.__name__}.{info.name}" for info in iter_modules(memory.__path__)]
    return [import_module("gpuviz.traces.trace"), observe, *map(import_module, names)]


def public_classes() -> set[str]:
    """Classes that these define by their own statements."""
    trees = [ast.parse(inspect.getsource(module)) for module in modules()]
    return {
        node.name
        for tree in trees
        for node in tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    }


def test_every_class_of_trace_and_memory_is_a_word_or_machinery() -> None:
    explained = [name for entry in ENTRIES.values() for name in entry.classes]
    assert len(explained) == len(set(explained)), "one class, one word"
    assert set(explained) | MACHINERY == public_classes()


def test_links_lead_to_entries() -> None:
    links = {(entry.id, name) for entry in ENTRIES.values() for name in entry.see}
    assert {link for link in links if link[1] not in ENTRIES or link[0] == link[1]} == set()


def test_entries_are_one_to_four_plain_sentences() -> None:
    for entry in ENTRIES.values():
        assert entry.text.endswith((".", ".)")) and "\n" not in entry.text, entry.id
        assert 20 < len(entry.text) < 320, entry.id
    words = [entry.word.lower() for entry in ENTRIES.values()]
    assert len(words) == len(set(words))


def test_every_lesson_has_words() -> None:
    for lesson in SCENES:
        assert set(lesson.words) <= ENTRIES.keys(), lesson.id
        assert len(lesson.words) >= 3, f"{lesson.id}: which words of the glossary is it about?"
        assert len(lesson.words) == len(set(lesson.words))


def test_an_unknown_word_names_the_known_ones() -> None:
    assert glossary.entry("half-warp").word == "half warp"
    with pytest.raises(InputError, match="'sektor'.*sector"):
        glossary.entry("sektor")


def test_a_damaged_file_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "glossary.toml").write_text('[bank]\ntext = "x"\nsea = []\n')
    monkeypatch.setattr(resources, "path", lambda name: tmp_path / name)
    with pytest.raises(FormatError, match="bank: sea is not known here"):
        glossary.entries.__wrapped__()  # past what is kept of the true one


def test_the_page_is_up_to_date() -> None:
    assert glossary.PAGE.read_text(encoding="utf-8") == glossary.page(), (
        "run python -m gpuviz.words.glossary"
    )
