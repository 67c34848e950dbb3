"""Lessons are tested without the recordings that ship, which change whenever they are made anew."""

from collections.abc import Iterator

import pytest

from gpuviz.runners import session, sweep_file
from gpuviz.runners.recorded import Recordings


@pytest.fixture(autouse=True, scope="module")
def _nothing_recorded() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        library = session.Library(Recordings(()), {}, sweep_file.shipped()[1])
        patch.setattr(session, "shipped", lambda: library)
        yield
