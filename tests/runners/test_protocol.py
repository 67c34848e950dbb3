"""Messages between gpuviz and the GPU's process: there and back, damaged, cut short."""

import io
import json
import struct
from dataclasses import fields

import numpy as np
import pytest

from gpuviz.errors import FormatError, KernelFault, UnavailableError
from gpuviz.runners import faults
from gpuviz.runners.gpu import protocol
from gpuviz.runners.gpu.protocol import Load, Message, Reply, Time, receive, send

ARRAYS = (
    np.arange(6, dtype=np.int16).reshape(2, 3),
    np.asarray(np.float64(2.5)),
    np.zeros((0, 4)),
    np.array([1, 2], ">u4"),
    np.arange(8, dtype=np.uint8)[::2],
)


def there_and_back(message: Message) -> Message:
    pipe = io.BytesIO()
    send(pipe, message)
    pipe.seek(0)
    found = receive(pipe)
    assert pipe.read() == b""
    return found


@pytest.mark.parametrize(
    "message",
    [
        Time("k", 5, 1.5, "warm"),
        protocol.Describe(),
        protocol.Count("k", "live"),
        Load("k", "ptx", "f", (1, 2, 3), (4, 5, 6), 7, ARRAYS),
        Reply({"a": [1.5, None]}, ARRAYS),
        protocol.Failure({"kind": "Error"}, True),
    ],
    ids=lambda m: type(m).__name__,
)
def test_messages_arrive_as_they_were(message: Message) -> None:
    found = there_and_back(message)
    assert type(found) is type(message)
    for field in fields(message):
        sent, got = getattr(message, field.name), getattr(found, field.name)
        if field.name != "arrays":
            assert got == sent
            continue
        for one, other in zip(sent, got, strict=True):
            assert one.dtype == other.dtype and one.shape == other.shape
            assert np.array_equal(one, other)


def framed(header: object, magic: bytes = b"gpv1", rest: bytes = b"") -> io.BytesIO:
    text = json.dumps(header).encode()
    return io.BytesIO(struct.pack("<4sI", magic, len(text)) + text + rest)


@pytest.mark.parametrize(
    "pipe",
    [
        framed({}),
        framed([]),
        framed({"kind": "Time"}),
        framed({"kind": "Time"}, b"gpv0"),
        framed({"kind": "exec", "fields": {}, "arrays": []}),
        framed({"kind": "Drop", "fields": {"key": "k", "more": 1}, "arrays": []}),
        framed({"kind": "Drop", "fields": {}, "arrays": []}),
        framed(
            {"kind": "Reply", "fields": {"values": {}}, "arrays": [{"dtype": "O", "shape": [1]}]},
            rest=bytes(8),
        ),
        io.BytesIO(struct.pack("<4sI", b"gpv1", 2**31) + b"{}"),
        io.BytesIO(struct.pack("<4sI", b"gpv1", 4) + b"\xff\xfe{}"),
    ],
)
def test_what_is_no_message_is_refused(pipe: io.BytesIO) -> None:
    with pytest.raises(FormatError):
        receive(pipe)


def test_a_message_cut_short_is_the_end() -> None:
    whole = io.BytesIO()
    send(whole, Reply({"a": 1}, (np.arange(100),)))
    for size in (0, 3, 8, 20, len(whole.getvalue()) - 1):
        with pytest.raises(EOFError):
            receive(io.BytesIO(whole.getvalue()[:size]))


@pytest.mark.parametrize(
    "error",
    [
        KernelFault("a"),
        faults.TimeLimit("b"),
        faults.NoDevice("c"),
        faults.WorkerLost("d"),
        faults.CountersUnavailable("e", "busy"),
        UnavailableError("f"),
    ],
    ids=lambda e: type(e).__name__,
)
def test_errors_cross_the_pipe(error: Exception) -> None:
    found = faults.from_wire(json.loads(json.dumps(faults.to_wire(error))))
    assert type(found) is type(error) and str(found) == str(error)
    assert getattr(found, "reason", "") == getattr(error, "reason", "")


def test_a_foreign_error_keeps_its_name() -> None:
    assert str(faults.from_wire(faults.to_wire(ZeroDivisionError("x")))) == "ZeroDivisionError: x"
