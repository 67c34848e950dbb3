"""Lessons are tested without the recordings that ship, which change whenever they are made anew."""

import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpuviz.recordings import lookup
from gpuviz.recordings.lookup import Recordings
from gpuviz.run import session
from gpuviz.sass import listing

DISASSEMBLER = listing.find_nvdisasm
THIRD = 3


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Lessons are performed once for all tests: with the machine code that some of them show."""
    listing.find_nvdisasm = DISASSEMBLER


@pytest.fixture(autouse=True, scope="module")
def _nothing_recorded() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lookup, "shipped", lambda: Recordings(()))
        session.shipped.cache_clear()
        yield
    session.shipped.cache_clear()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Quick tests ask every question of a lesson, but not each of each case.

    Of the cases of a question every third is quick, beginning with another one each time; all are
    with the slow tests.
    """
    here = f"{Path(__file__).parent}{os.sep}"
    asked = defaultdict[tuple[Path, str], list[pytest.Function]](list)
    for item in items:
        if isinstance(item, pytest.Function) and str(item.path).startswith(here):
            about = getattr(item, "callspec", None)
            if about and "case" in about.params and not item.get_closest_marker("slow"):
                asked[item.path, item.originalname].append(item)
    for turn, cases in enumerate(asked.values()):
        for number, item in enumerate(cases):
            if len(cases) > THIRD and (number + turn) % THIRD:
                item.add_marker(pytest.mark.slow)
