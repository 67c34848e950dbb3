"""What every test starts from: no display, no user settings, and the same examples each time."""

import os

os.environ["QT_QPA_PLATFORM"] = "offscreen"

from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A compile cache for this session, so that no test depends on an earlier one."""
    folder = tmp_path_factory.mktemp("cache")
    for variable in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        os.environ[variable] = str(folder)
    return folder
