"""What goes to a terminal is shown there, and nothing in it is obeyed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuviz.cli import main
from gpuviz.words.terminal import err, out, visible

ROOT = Path(__file__).parents[2]
CLEAR, TITLE, TURNED = "\x1b[2J\x1b[31m", "\x1b]0;mine\x07", "\u202ecod.exe"


def test_what_a_terminal_would_obey_is_written_out() -> None:
    assert visible(f"a{CLEAR}b{TITLE}") == r"a\x1b[2J\x1b[31mb\x1b]0;mine\x07"
    assert visible(f"{TURNED}\x9b1m\x7f") == r"\u202ecod.exe\x9b1m\x7f"
    assert visible(os.fsdecode(b"caf\xe9.cu")) == r"caf\xe9.cu"
    assert visible("one\ttwo\r\nthree\rfour ñ é 中 ▲") == "one\ttwo\nthree\\x0dfour ñ é 中 ▲"


@given(st.text(max_size=60))
def test_of_any_text_only_what_is_shown_is_left(text: str) -> None:
    said = visible(text)
    assert not any(c < " " and c not in "\n\t" for c in said)
    assert not {"\x7f", "\x9b", "\u202e", "\u2066"} & set(said)
    said.encode()


def test_both_ways_out(capsys: pytest.CaptureFixture[str]) -> None:
    out(CLEAR)
    err(TITLE)
    assert capsys.readouterr() == ("\\x1b[2J\\x1b[31m\n", "\\x1b]0;mine\\x07\n")


KERNEL = r"""
extern "C" __global__ void k() { if (threadIdx.x == 0) printf("\033[2J\033]0;mine\007\r\n"); }
"""


def test_nothing_of_a_file_reaches_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(f"k{CLEAR}.cu").write_text(KERNEL)
    Path("bad.cu").write_text(f'#error "{CLEAR}"\n')
    Path("a.gpuviz-lecture").write_text(
        f"gpuviz-lecture = 1\n[[slide]]\nlesson = '{TURNED}'\n'a{TURNED}' = 1\n"
    )
    launch = ["--grid", "1", "--block", "32"]
    for told in (
        ["count", f"k{CLEAR}.cu", *launch],
        ["count", f"k{CLEAR}.cu", *launch, "--entry", CLEAR],
        ["check", f"k{CLEAR}.cu"],
        ["count", "bad.cu", *launch],
        ["count", f"gone{CLEAR}.cu", *launch],
        ["present", "--check", "a.gpuviz-lecture"],
        [f"gpuviz://{CLEAR}"],
        ["list", f"--{CLEAR}"],
        [f"{TURNED}.png"],
    ):
        main(told)
        said = "".join(capsys.readouterr())
        assert said and not {"\x1b", "\x07", "\u202e", "\r"} & set(said), told


def run(*argv: str, **how: object) -> subprocess.CompletedProcess[bytes]:
    given: dict[str, object] = {"capture_output": True, "check": False, "cwd": ROOT, **how}
    if "stdout" in given:
        given |= {"capture_output": False, "stderr": subprocess.PIPE}
    return subprocess.run([sys.executable, "-m", "gpuviz", *argv], **given)  # type: ignore[call-overload,no-any-return]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_output_that_cannot_be_written_is_told() -> None:
    with open("/dev/full", "wb") as full:
        done = run("list", stdout=full)
    assert done.returncode == 2
    assert done.stderr == b"gpuviz: cannot write what was asked for: No space left on device\n"


def test_a_terminal_that_lacks_a_sign_gets_it_written_out() -> None:
    done = run("list", "--language", "es", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0 and b"\\xf3" in done.stdout, done.stderr
