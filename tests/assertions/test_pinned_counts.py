"""Counts pinned in a file, reports of what was asserted, and the command line's way to both."""

import json
import os
from pathlib import Path
from xml.etree import ElementTree

import pytest

import gpuviz
from gpuviz.api.expectation import ExpectationError
from gpuviz.base.errors import FormatError, InputError
from gpuviz.cli import main
from tests.assertions.test_claims import TEXT, turned
from tests.test_layers import ROOT

pytest_plugins = ["pytester"]
LAUNCH = ["--grid", "1", "--block", "32,32", "--arg", "f32[1024]=zeros", "--arg", "f32[1024]=rand"]
PADDED = TEXT.replace("tile[32][32]", "tile[32][33]")
TEST = f'''
import gpuviz
TEXT = """{TEXT}"""

def test_turn():
    run = gpuviz.trace(TEXT, 1, (32, 32), ("f32[1024]=zeros", "f32[1024]=rand"))
    gpuviz.expect(run).same_counts_as("counts/turn.json").no_bank_conflicts()
'''


def test_what_is_pinned_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "counts" / "turn.json"
    with pytest.raises(ExpectationError, match="there is no such file yet"):
        gpuviz.expect(turned()).same_counts_as(file)
    monkeypatch.setenv("GPUVIZ_UPDATE", "1")
    gpuviz.expect(turned()).same_counts_as(file).same_counts_as(file, name="again")
    monkeypatch.delenv("GPUVIZ_UPDATE")
    gpuviz.expect(turned()).same_counts_as(file).same_counts_as(file, name="again")
    padded = gpuviz.trace(PADDED, 1, (32, 32), ("f32[1024]=zeros", "f32[1024]=rand"))
    with pytest.raises(ExpectationError, match="shared_load_wavefronts is 32, pinned 1,024"):
        gpuviz.expect(padded).same_counts_as(file)
    gpuviz.expect(padded).same_counts_as(file, within=1.0)
    with pytest.raises(ExpectationError, match="it has again, turn, not other"):
        gpuviz.expect(padded).same_counts_as(file, name="other")
    small = gpuviz.trace(TEXT, 1, (32, 16), ("f32[1024]=zeros", "f32[1024]=rand"))
    with pytest.raises(ExpectationError, match="another launch: block"):
        gpuviz.expect(small).same_counts_as(file)


@pytest.mark.parametrize(
    "text", ["", "[]", '{"gpuviz-counts": 9}', '{"launches": {"a": 1}}', "{" * 9999]
)
def test_another_file_is_refused_and_left_alone(text: str, tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    file.write_text(text)
    with pytest.raises(FormatError, match=r"other\.json"):
        gpuviz.expect(turned()).same_counts_as(file)
    assert file.read_text() == text


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_refused_before_it_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was no file yet, and one to be pinned waited for its reader."""
    file = tmp_path / "pipe.json"
    os.mkfifo(file)
    for update in ("", "1"):
        monkeypatch.setenv("GPUVIZ_UPDATE", update)
        with pytest.raises(InputError, match="a device or a pipe"):
            gpuviz.expect(turned()).same_counts_as(file)


def test_the_command_asserts_pins_and_reports(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "turn.cu").write_text(TEXT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "page.md"))
    count = ["count", "turn.cu", *LAUNCH]
    assert main([*count, "--baseline", "counts.json", "--update-baseline"]) == 0
    assert main([*count, "--baseline", "counts.json", "--assert", "races == 0"]) == 0
    capfd.readouterr()
    reports = ["--junit", "junit.xml", "--summary", "page2.md", "--annotate"]
    wrong = ["--assert", "shared_conflicts == 0", "--assert", "global_sectors < 999"]
    assert main([*count, *wrong, *reports]) == 1
    said = capfd.readouterr().out
    assert "FAILS       shared_conflicts == 0: shared_conflicts is 992" in said
    assert "::error file=turn.cu,line=5,title=gpuviz%3A turn::shared_conflicts == 0" in said
    suite = ElementTree.parse(tmp_path / "junit.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "0")
    assert [case.get("name") for case in suite] == wrong[1::2]
    assert "2 assertions, 1 failed" in (tmp_path / "page.md").read_text()
    assert (tmp_path / "page2.md").read_text() == (tmp_path / "page.md").read_text()
    assert main([*count, *wrong, "--json"]) == 1
    found = json.loads(capfd.readouterr().out)["assertions"]
    assert [one["holds"] for one in found] == [False, True]
    assert main([*count, "--junit", "x.xml"]) == 2
    capfd.readouterr()
    assert main([*count, *wrong, "--junit", "gone/x.xml"]) == 2
    assert capfd.readouterr().out == ""  # said before anything is counted
    assert main([*count, "--assert", "nothing == 0"]) == 2


@pytest.mark.slow
def test_the_plug_in_pins_holds_and_draws(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # where gpuviz is installed, too
    monkeypatch.delenv("GPUVIZ_COUNTS", raising=False)
    pytester.makepyfile(TEST)
    given = ("-p", "gpuviz.assertions.pytest_plugin", "--junit-xml", "reports/junit.xml")
    done = pytester.runpytest_subprocess(*given, "--gpuviz-update")
    done.stdout.fnmatch_lines(["*shared_conflicts == 0: shared_conflicts is 992*", "*.svg"])
    assert "turn" in (pytester.path / "counts/turn.json").read_text()
    (drawn,) = (pytester.path / "reports/gpuviz-pictures").glob("*test_turn.svg")
    assert drawn.read_text().startswith("<")
    assert "gpuviz picture" in (pytester.path / "reports/junit.xml").read_text()
    pytester.makepyfile(TEST.replace("tile[32][32]", "tile[32][33]"))
    again = pytester.runpytest_subprocess(*given)
    again.stdout.fnmatch_lines(["*same counts as *: shared_load_wavefronts is 32, pinned 1,024*"])
