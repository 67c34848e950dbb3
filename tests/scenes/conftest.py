"""Lessons are tested without the recordings that ship, which change whenever they are made anew."""

from collections.abc import Iterator

import pytest

from gpuviz.runners import recorded, session
from gpuviz.runners.recorded import Recordings


@pytest.fixture(autouse=True, scope="module")
def _nothing_recorded() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recorded, "shipped", lambda: Recordings(()))
        session.shipped.cache_clear()
        yield
    session.shipped.cache_clear()
