"""Lessons are tested without the recordings that ship, which change whenever they are made anew."""

from collections.abc import Iterator

import pytest

from gpuviz.scenes import perform


@pytest.fixture(autouse=True, scope="session")
def _nothing_recorded() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(perform, "recorded_measurement", lambda plan: None)
        yield
