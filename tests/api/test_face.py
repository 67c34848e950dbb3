"""What `import gpuviz` offers, and how little of it is loaded before it is used."""

import subprocess
import sys
from pkgutil import iter_modules

import pytest

import gpuviz
from tests.test_layers import ROOT

LIGHT = "import sys, gpuviz; print(*(name for name in sys.modules if name.startswith('gpuviz')))"
HEAVY = "import sys, gpuviz; print(*{name.partition('.')[0] for name in sys.modules})"


def said(code: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_importing_loads_nothing_else() -> None:
    assert said(LIGHT) == {"gpuviz"}
    assert said(HEAVY).isdisjoint({"numpy", "PySide6", "llvmlite", "cupy", "triton", "numba"})


def test_every_name_is_there() -> None:
    assert len(set(gpuviz.__all__)) == len(gpuviz.__all__)
    for name in gpuviz.__all__:
        assert getattr(gpuviz, name).__doc__, name
    assert set(gpuviz.__all__) <= set(dir(gpuviz))
    with pytest.raises(AttributeError, match="no attribute 'tracing'"):
        _ = gpuviz.tracing


def test_no_module_has_a_name_of_the_face() -> None:
    """Importing it would take the place of what is offered."""
    assert not {module.name for module in iter_modules(gpuviz.__path__)} & set(gpuviz.__all__)


def test_what_is_promised_is_what_there_is() -> None:
    promised = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    assert [name for name in gpuviz.__all__ if f"`{name}" not in promised] == []
