"""What every test starts from: no display, no user settings, and the same examples each time."""

import ctypes
import gc
import importlib.util
import os
from functools import cache
from pathlib import Path

os.environ["QT_QPA_PLATFORM"] = "offscreen"
os.environ["GPUVIZ_SIZES"] = "small"  # slow tests look at lessons as they ship (performed.real)

import pytest
from hypothesis import settings

from gpuviz.sass import listing

settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")

# What says where platformdirs finds the folders of the user, on every system.
FOLDERS = ("XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "WIN_PD_OVERRIDE_LOCAL_APPDATA")

SLOW = 600  # seconds a slow test may take; pyproject.toml says it of the others


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--update-golden` accepts the pictures of the lessons as they are now."""
    parser.addoption("--update-golden", action="store_true", help="accept changed golden pictures")


@pytest.fixture(scope="session", autouse=True)
def own_folders(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Folders of the user for this session, so that no test depends on an earlier one.

    Processes of one session share what is compiled: its entries are named after their content.
    """
    folder = tmp_path_factory.mktemp("folders")
    for variable in FOLDERS:
        os.environ[variable] = str(folder)
    if "PYTEST_XDIST_WORKER" in os.environ:
        os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.getbasetemp().parent / "cache")


@pytest.fixture(scope="session", autouse=True)
def application(request: pytest.FixtureRequest) -> None:
    """One application with widgets for the session: tests that draw must not make a lesser one.

    Not where Qt is missing, as on a GPU host that runs tests/gpu alone.
    """
    if importlib.util.find_spec("PySide6"):
        request.getfixturevalue("qapp")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs a GPU where the driver finds none; slow tests may take longer.

    They emulate whole launches, and a machine may be half as fast as another.
    """
    for item in items:
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(SLOW))
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if marked and not _gpu_answers():
        for item in marked:
            item.add_marker(pytest.mark.skip(reason="no NVIDIA GPU answers"))


DISASSEMBLER = listing.find_nvdisasm()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """No disassembler but where a test needs it, and for slow ones, which have what users have.

    It takes 0.3 s for each kernel, a tenth of all, where most look at something else.
    """
    needed = item.get_closest_marker("machine_code") is not None
    if needed and DISASSEMBLER is None:
        pytest.skip("no nvdisasm")
    there = needed or item.get_closest_marker("slow") is not None
    listing.find_nvdisasm = _disassembler if there else _no_disassembler


@cache
def _disassembler() -> Path | None:
    """That of this machine."""
    return DISASSEMBLER


@cache
def _no_disassembler() -> None:
    """As on a machine that has none."""


def pytest_collection_finish() -> None:
    """What has been made by now stays: looking through it for garbage takes a twentieth of all."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def _gpu_answers() -> bool:
    try:
        driver = ctypes.CDLL("nvcuda.dll" if os.name == "nt" else "libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int()
    return (
        driver.cuInit(0) == 0
        and driver.cuDeviceGetCount(ctypes.byref(count)) == 0
        and (count.value > 0)
    )
