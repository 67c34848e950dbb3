"""A plug-in of pytest: `--gpuviz-update`, and a picture beside each failed expectation."""

from __future__ import annotations

import re
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from gpuviz.assertions import settings

_FOLDER = "gpuviz-pictures"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options."""
    group = parser.getgroup("gpuviz", "counts of GPU kernels")
    group.addoption(
        "--gpuviz-update", action="store_true", help="pin the counts of same_counts_as anew"
    )
    group.addoption(
        "--gpuviz-pictures",
        metavar="FOLDER",
        help=f"where pictures of failed expectations go (default: {_FOLDER} beside the report of "
        "--junit-xml, or where pytest runs)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Pinned counts are named as seen from pytest's root folder."""
    settings.use(config.getoption("--gpuviz-update"), config.rootpath)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Draw what failed, and name the file in the report."""
    report = yield
    error = call.excinfo.value if call.excinfo else None
    if type(error).__name__ == "ExpectationError" and (file := _drawn(error, item)):
        report.sections.append(("gpuviz picture", str(file)))
        item.user_properties.append(("gpuviz picture", str(file)))
    return report


def _drawn(error: Any, item: pytest.Item) -> Path | None:
    picture = error.picture()
    if picture is None:
        return None
    given = item.config.getoption("--gpuviz-pictures")
    xml = item.config.getoption("xmlpath", None)
    folder = Path(given) if given else Path(xml).parent / _FOLDER if xml else Path(_FOLDER)
    folder.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"[^\w.-]+", "-", item.nodeid).strip("-")[-120:]
    file: Path = picture.save(folder / f"{name}.svg")
    return file
