"""One version: what the program says of itself is what is cited, and what the changes are of."""

import re
import tomllib
from pathlib import Path

import gpuviz

ROOT = Path(__file__).parent.parent


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_changes_begin_with_this_version_and_go_down() -> None:
    headings = re.findall(r"^## \[(\d+)\.(\d+)\.(\d+)\]", text("CHANGELOG.md"), re.MULTILINE)
    versions = [tuple(map(int, parts)) for parts in headings]
    assert ".".join(headings[0]) == gpuviz.__version__
    assert versions == sorted(set(versions), reverse=True) and len(versions) > 1


def test_what_is_cited_is_this_version_and_this_licence() -> None:
    project = tomllib.loads(text("pyproject.toml"))["project"]
    said = dict(re.findall(r"^([a-z-]+): (\S.*)$", text("CITATION.cff"), re.MULTILINE))
    assert said["version"] == gpuviz.__version__
    assert said["license"] == project["license"]


def test_the_version_stands_in_one_file_of_the_program() -> None:
    project = tomllib.loads(text("pyproject.toml"))
    assert "version" in project["project"]["dynamic"]
    assert project["tool"]["hatch"]["version"]["path"] == "gpuviz/__init__.py"
