"""Messages between gpuviz and the GPU's process: there and back, damaged, cut short."""

import io
import json
import struct
from dataclasses import fields

import numpy as np
import pytest

from gpuviz.arguments import BufferSpec, Recipe
from gpuviz.base.errors import Error, FormatError, KernelFault, UnavailableError
from gpuviz.gpu import faults, protocol
from gpuviz.gpu.protocol import BufferOrigin, Load, Message, Reply, Time, receive, send
from gpuviz.gpu.wire_arguments import Address, Parameter

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
        Load(
            "k",
            "ptx",
            "f",
            (1, 2, 3),
            (4, 5, 6),
            7,
            (BufferOrigin(), BufferOrigin("f32[4]=rand", 2)),
            (Parameter("00ff", (Address(0, 1, 16, "image f32[4]=zeros", "linear"),)),),
            (("held", Parameter("07")),),
            ARRAYS,
        ),
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


def framed(header: object, magic: bytes = b"gpv3", rest: bytes = b"") -> io.BytesIO:
    text = json.dumps(header).encode()
    return io.BytesIO(struct.pack("<4sI", magic, len(text)) + text + rest)


@pytest.mark.parametrize(
    "pipe",
    [
        framed({}),
        framed([]),
        framed({"kind": "Time"}),
        framed({"kind": "Time"}, b"gpv1"),
        framed({"kind": "exec", "fields": {}, "arrays": []}),
        framed({"kind": "Drop", "fields": {"key": "k", "more": 1}, "arrays": []}),
        framed({"kind": "Drop", "fields": {}, "arrays": []}),
        framed(
            {"kind": "Reply", "fields": {"values": {}}, "arrays": [{"dtype": "O", "shape": [1]}]},
            rest=bytes(8),
        ),
        io.BytesIO(struct.pack("<4sI", b"gpv3", 2**31) + b"{}"),
        io.BytesIO(struct.pack("<4sI", b"gpv3", 4) + b"\xff\xfe{}"),
    ],
)
def test_what_is_no_message_is_refused(pipe: io.BytesIO) -> None:
    with pytest.raises(FormatError):
        receive(pipe)


def load(*made: BufferOrigin, arrays: tuple[np.ndarray, ...] = ARRAYS) -> Load:
    parameter = Parameter("0001020304050607", (Address(0, 1, 16, "image f32[4]=zeros"),))
    variables = (("held", parameter),)
    return Load("k", "ptx", "f", (1, 2, 3), (4, 5, 6), 7, made, (parameter,), variables, arrays)


@pytest.mark.parametrize("recipe", ["f32[2]=@/etc/hosts", "i32=7", "nonsense"])
def test_the_worker_makes_buffers_alone(recipe: str) -> None:
    with pytest.raises(Error):
        _ = load(BufferOrigin(recipe)).buffers


def test_buffers_are_in_order_made_or_sent() -> None:
    code, array, other = ARRAYS[4], ARRAYS[0], ARRAYS[1]
    asked = load(
        BufferOrigin(), BufferOrigin("f32[4]=rand", 3), BufferOrigin(), arrays=(code, array, other)
    )
    first, made, last = asked.buffers
    assert first is array and made == Recipe(BufferSpec("f32", 4, "rand"), 3) and last is other


def test_buffers_that_are_known_do_not_come_back() -> None:
    one, other = np.arange(4, dtype=np.float32), np.zeros(3)
    reply = protocol.Run("k", (protocol.digest(one), protocol.digest(one))).reply((one, other))
    assert reply.values == {"same": [0]}
    assert reply.arrays[0].size == 0 and np.array_equal(reply.arrays[1], other)
    assert protocol.Run("k").reply((one, other)).arrays[0] is one


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
