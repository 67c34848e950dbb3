"""Wheel and sdist as they would be published, made once for all tests here: `make package`.

The folder they lie in is the local index; what gpuviz needs comes from the registry that this
machine's pip is configured with.
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.packaging.ways import installers

ROOT = Path(__file__).parent.parent.parent
TOOLS = Path(sys.executable).parent  # those of the extra `package` lie beside this Python


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Each of these installs a gigabyte, or needs what does: they are asked for."""
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.package)
            item.add_marker(pytest.mark.timeout(600))


def run(command: list[str], folder: Path, environment: Mapping[str, str] | None = None) -> str:
    """What a program says, which has to end well."""
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=500
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="session")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel that was built from the sdist."""
    folder = tmp_path_factory.mktemp("index")
    run([str(TOOLS / "python"), "-m", "build", "-o", str(folder), str(ROOT)], folder)
    return folder


@pytest.fixture(scope="session")
def wheel(index: Path) -> Path:
    """The wheel."""
    (file,) = index.glob("*.whl")
    return file


@pytest.fixture(scope="session")
def sdist(index: Path) -> Path:
    """The source archive."""
    (file,) = index.glob("*.tar.gz")
    return file


@pytest.fixture(scope="session")
def bare() -> dict[str, str]:
    """An environment that leads neither to this checkout nor to its virtual environment."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "VIRTUAL_ENV", "PYTEST", "GPUVIZ"))
    }
    paths = [part for part in os.get_exec_path() if Path(part) != TOOLS]
    return {**kept, "PATH": os.pathsep.join(paths), **installers(TOOLS)}
