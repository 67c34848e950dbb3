"""Files read with a limit: what is endless or too large is refused, and nothing waits."""

import ast
import os
from pathlib import Path

import pytest

from docs.layers import FILES, module
from gpuviz.base.errors import InputError
from gpuviz.files import bounded

# Who reads a file by other means, and why that is bounded there.
RAW = {
    "files.bounded": "it is the place",
    "files.zips": "zipfile, over what bounded opens",
    "base.resources": "what ships",
    "processes.memory": "/proc, two rows of it",
    "doctor": "/etc/os-release, of the system",
    "export.reading": "mmap of what bounded opens",
    "lectures.bundle": "its checksum alone, of what it unpacked, in steps",
    "ptx.compiled.build": "our own source text",
    "qt.diagnostics.log": "our own log, a line at a time",
    "sweeps.record": "a line at a time, of at most 1 MiB",
}
_READS = {"read_bytes", "read_text", "readlines", "fromfile", "loadtxt", "genfromtxt", "memmap"}
_MODULES = {"zipfile.ZipFile", "np.load", "mmap.mmap", "os.open", "tomllib.load", "tomllib.loads"}
_LAST = {"open"} | _READS | {name.rpartition(".")[2] for name in _MODULES}


def test_reads() -> None:
    found = bounded.read(Path(__file__))
    assert found == Path(__file__).read_bytes() and b"test_reads" in found


def test_what_is_larger_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(bytes(11))
    assert bounded.read(file, 11) == bytes(11)
    with pytest.raises(InputError, match="larger than 10 bytes"):
        bounded.read(file, 10)


def test_what_grows_while_it_is_read_is_cut(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"a")
    with pytest.raises(InputError, match="larger than 5"), bounded.opened(file, 5):
        file.write_bytes(bytes(9))
        bounded.read(file, 5)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no such device here")
def test_a_device_is_no_file() -> None:
    with pytest.raises(InputError, match="cannot read /dev/zero: it is a device or a pipe"):
        bounded.read(Path("/dev/zero"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_not_waited_for_nor_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setattr(os, "open", lambda *how: pytest.fail(f"opened {how}"))
    with pytest.raises(InputError, match="a device or a pipe"):
        bounded.read(tmp_path / "pipe")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("absent", "No such file"),
        (".", "Is a directory"),
        ("a\0b", "null byte"),
        ("x" * 999, "long"),
    ],
)
def test_what_cannot_be_opened_is_told(tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(InputError, match=f"(?s)cannot read .*{said}"):
        bounded.read(tmp_path / name)


def test_texts_have_no_mark_of_their_order_and_ends_of_lines_of_one_kind(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes("\ufeffa\r\nb\rc\n".encode() + b"\xff")
    assert bounded.text(tmp_path / "f") == "a\nb\nc\n\ufffd"


def _raw_reads(tree: ast.AST) -> bool:
    return any(_is_raw(node) for node in ast.walk(tree) if isinstance(node, ast.Call))


def _is_raw(call: ast.Call) -> bool:
    last = getattr(call.func, "attr", getattr(call.func, "id", ""))
    if last not in _LAST:
        return False
    named = ast.unparse(call.func)
    if named in _MODULES or (last in _READS and "." in named):
        return True
    return last == "open" and (named == "open" or _mode(call).startswith(("r", "a+", "w+")))


def _mode(call: ast.Call) -> str:
    """The mode of `path.open("rb")`; "" where it is no file that is opened."""
    given = [*call.args, *(key.value for key in call.keywords if key.arg in ("mode", "encoding"))]
    texts = [one.value for one in given if isinstance(one, ast.Constant) and type(one.value) is str]
    if not texts or any(key.arg == "encoding" for key in call.keywords) and not call.args:
        return "r" if texts else ""
    return texts[0]


@pytest.mark.parametrize(
    ("text", "raw"),
    [
        ("p.read_bytes()", True),
        ("open(p)", True),
        ("p.open('rb')", True),
        ("p.open(encoding='utf-8')", True),
        ("zipfile.ZipFile(p)", True),
        ("np.load(p)", True),
        ("p.open('wb')", False),
        ("dialog.open()", False),
    ],
)
def test_raw_reads_are_recognised(text: str, raw: bool) -> None:
    assert _raw_reads(ast.parse(text)) is raw


def test_everything_that_reads_a_file_has_a_limit() -> None:
    texts = {file: file.read_text(encoding="utf-8") for file in FILES}
    raw = {
        module(file).removeprefix("gpuviz.")
        for file, text in texts.items()
        if any(f"{name}(" in text for name in _LAST) and _raw_reads(ast.parse(text))
    }
    writes = {"files.archive", "files.writing", "lectures.bundle_contents", "words.terminal"}
    assert raw - writes - RAW.keys() == set(), "read it with gpuviz.files.bounded, zips or npy"
    assert RAW.keys() - raw == set(), "has no raw read any more"
