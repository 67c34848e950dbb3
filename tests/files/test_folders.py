"""The folders of the user are where they have always been, and where the system wants them."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gpuviz.files import folders
from tests.conftest import FOLDERS

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the places of Linux")
PLACES = (
    (folders.cache, "XDG_CACHE_HOME", ".cache", "gpuviz"),
    (folders.state, "XDG_STATE_HOME", ".local/state", "gpuviz/gpuviz"),
    (folders.data, "XDG_DATA_HOME", ".local/share", "gpuviz/gpuviz"),
)


@LINUX
@pytest.mark.parametrize(("folder", "variable", "usual", "name"), PLACES)
def test_folders_follow_the_customs_of_the_system(
    folder: Callable[[], Path],
    variable: str,
    usual: str,
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for one in FOLDERS:
        monkeypatch.delenv(one, raising=False)
    assert folder() == tmp_path / usual / name
    monkeypatch.setenv(variable, str(tmp_path / "mine"))
    assert folder() == tmp_path / "mine" / name
    assert list(tmp_path.iterdir()) == [], "asking makes nothing"
