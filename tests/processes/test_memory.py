"""What needs more memory than there is, is refused before it takes any."""

import pytest

from gpuviz.base.errors import InputError
from gpuviz.processes import memory


def test_this_machine_says_what_it_has() -> None:
    assert 1 << 20 < memory.available() < 1 << 50


def test_what_fits_is_let_through_and_what_does_not_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory, "available", lambda: 10_000)
    memory.check_memory(8_000, "the arguments need")
    with pytest.raises(InputError, match="arguments need 8,001 bytes .* and 10,000 are free"):
        memory.check_memory(8_001, "the arguments need")


def test_what_the_shell_leaves_a_process_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda which: (1 << 40, -1))
    assert memory._of_process() < 1 << 40
