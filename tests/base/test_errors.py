"""Messages are short, whatever they repeat of a file."""

import errno

import pytest

from gpuviz.base.errors import FormatError, InputError, failure_of, shortened
from gpuviz.compile import CompileError


def test_a_message_stays_as_it_is() -> None:
    text = "cannot read /a/b.cu: it is larger than 4 MiB; make it smaller"
    assert str(InputError(text)) == shortened(text) == text


def test_the_middle_of_what_is_too_long_is_left_out() -> None:
    said = str(FormatError(f"the name {'x' * 60_000}y is not known: write another"))
    assert said.startswith("the name xxx") and said.endswith("xxy is not known: write another")
    assert " … " in said and len(said) < 400
    said = str(CompileError("a b " * 500_000 + "end"))
    assert said.startswith("a b a b") and said.endswith("a b end") and len(said) < 4100


def test_little_memory_is_expected() -> None:
    failure = failure_of(MemoryError("Unable to allocate 16.0 GiB for an array"))
    assert failure.expected and "too little free memory" in failure.message
    assert "16.0 GiB" in failure.details


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "set TMPDIR to another folder"),
        (OSError(errno.EFBIG, "File too large"), "cannot be written (File too large)"),
        (FileNotFoundError(2, "No usable temporary directory found in ['/tmp']"), "set TMPDIR"),
        (OSError(errno.EMFILE, "Too many open files"), "ulimit -n"),
        (BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable"), "ulimit -u"),
        (RuntimeError("can't start new thread"), "ulimit -u"),
    ],
)
def test_what_the_machine_lacks_is_no_mistake(error: Exception, said: str) -> None:
    failure = failure_of(error)
    assert failure.expected and said in failure.message


def test_other_errors_of_the_system_are_mistakes() -> None:
    assert not failure_of(OSError(errno.EBADF, "Bad file descriptor")).expected
    assert not failure_of(FileNotFoundError(2, "No such file or directory")).expected
