"""Each way in, from nothing: installed from a local index, then used from an empty folder."""

import json
from pathlib import Path

import pytest

import gpuviz
from gpuviz.cli import main
from tests.packaging.conftest import TOOLS, run
from tests.packaging.ways import WAYS, Place

COUNT = ["count", "--scene", "coalescing", "--set", "stride=3", "--json"]


@pytest.mark.parametrize("name", WAYS)
def test_a_way_in_leads_to_a_program_that_is_whole(
    name: str, index: Path, bare: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    way = WAYS[name](Place(index, gpuviz.__version__, tmp_path / "way", TOOLS))
    environment = {**bare, **dict(way.environment), "GPUVIZ_SIZES": "small"}  # as tests are run
    (empty := tmp_path / "empty").mkdir()
    for command in way.install:
        run(list(command), empty, environment)

    def told(*arguments: str) -> str:
        return run([*way.command, *arguments], empty, environment)

    def here(*arguments: str) -> str:
        capsys.readouterr()
        assert main(arguments) == 0
        return capsys.readouterr().out

    assert told("--version").split() == ["gpuviz", gpuviz.__version__]
    assert json.loads(told("list", "--json")) == json.loads(here("list", "--json"))
    assert json.loads(told(*COUNT))["totals"] == json.loads(here(*COUNT))["totals"]
    told("render", "--scene", "banks", "--size", "640x360", "-o", "banks.png")
    assert (empty / "banks.png").read_bytes().startswith(b"\x89PNG")
    if way.scripts is not None:
        window = [str(way.scripts / "gpuviz-window"), "--version"]
        assert run(window, empty, environment).split()[1] == gpuviz.__version__
