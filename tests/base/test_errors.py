"""Messages are short, whatever they repeat of a file."""

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
