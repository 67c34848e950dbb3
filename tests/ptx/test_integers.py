"""Integer idioms of CUDA against Python integers and hashlib."""

import hashlib
import zlib

import numpy as np
import pytest

from tests.ptx.launching import DIALECTS, outputs

rng = np.random.default_rng(4)
pytestmark = pytest.mark.parametrize("arch", DIALECTS)
M32, M64 = 2**32 - 1, 2**64 - 1


def s(x, bits=32):
    """The signed value of the low bits."""
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x


def quotient(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def remainder(a, b):
    return a - b * quotient(a, b)


def bytes_of(x, signed=False):
    return [s(x >> k, 8) if signed else x >> k & 255 for k in (0, 8, 16, 24)]


def joined(parts):
    return sum((p & 255) << 8 * k for k, p in enumerate(parts))


def funnel(low, high, n):
    return (high << 32 | low) >> n & M32


def permuted(a, b, c):
    pool = bytes_of(a) + bytes_of(b)
    return joined(pool[c >> 4 * k & 7] for k in range(4))


def nth_set(mask, base, offset):
    places = [p for p in range(base, 32) if mask >> p & 1]
    return places[offset - 1] if len(places) >= offset else M32


def words(a, b, c):
    ab = list(zip(bytes_of(a), bytes_of(b), strict=True))
    sab = list(zip(bytes_of(a, True), bytes_of(b, True), strict=True))
    n = b & 31
    return [
        a + b * c,
        a - b,
        a // (b | 1),
        a % (b | 1),
        quotient(s(a), s(b | 1)),
        remainder(s(a), s(b | 1)),
        a * b >> 32,
        s(a) * s(b) >> 32,
        a << n,
        a >> n,
        s(a) >> n,
        a.bit_count(),
        32 - (a >> 5).bit_length(),
        (a & 0xFF00 & -(a & 0xFF00)).bit_length(),
        int(f"{a:032b}"[::-1], 2),
        permuted(a, b, c),
        funnel(a, b, 32 - c % 32),
        funnel(a, b, min(c & 63, 32)),
        sum(x * y for x, y in ab) + c,
        sum(x * y for x, y in sab) + c,
        abs(s(a) - s(b)) + c,
        abs(a - b) + c,
        (a & b) ^ (~c | a),
        c if a > b else ~c,
        min(s(a), s(b)),
        max(a, b),
        abs(s(a)),
        s(a, 24) * s(b, 24),
        (a & 0xFFFFFF) * (b & 0xFFFFFF),
        s(a) + s(b) >> 1,
        a + b + 1 >> 1,
        a >> 3 & 0x1FF,
        s(a << 7) >> 20,
        a & 0xFFFF0000 | b >> 16,
        a == 0,
        joined(x + y for x, y in ab),
        joined(abs(x - y) for x, y in ab),
        sum(0xFFFF << k for k in (0, 16) if a >> k & 0xFFFF > b >> k & 0xFFFF),
        joined(max(x, y) for x, y in sab),
        sum(abs(x - y) for x, y in ab),
        s(a, 8),
        s(b, 16),
        (a & 255) * (b & 255),
        s(a, 16) * s(b, 16),
        a // 7,
        quotient(s(a), 10),
        a % 1000,
        (a & 0xFFFF) // ((b | 1) & 0xFFFF),
        max(s(a), s(b), s(c)),
        nth_set(a, 3, 1),
    ]


def test_words(arch):
    a, b, c = rng.integers(0, 2**32, (3, 64), np.uint32)
    a[:6], b[:6] = [0, 1, M32, 2**31, 2**31, 5], [0, M32, M32, 1, 0, 2**31]
    wanted = np.array(
        [[int(w) & M32 for w in words(*map(int, row))] for row in zip(a, b, c, strict=True)]
    ).T
    found = outputs(
        "bits", "words", 1, 64, a, b, c, np.zeros(wanted.size, np.uint32), 64, arch=arch
    )[3].reshape(wanted.shape)
    assert [k for k in range(len(wanted)) if (found[k] != wanted[k]).any()] == []


def longs(a, b):
    n = b & 63
    return [
        a + b,
        a - b,
        a * b,
        a // (b >> 20 | 1),
        a % (b >> 20 | 1),
        quotient(s(a, 64), s(b | 1, 64)),
        remainder(s(a, 64), b >> 30 | 1),
        a * b >> 64,
        s(a, 64) * s(b, 64) >> 64,
        a << n,
        a >> n,
        s(a, 64) >> n,
        a.bit_count(),
        64 - (a >> 9).bit_length(),
        (a & ~15 & -(a & ~15)).bit_length(),
        int(f"{a:064b}"[::-1], 2),
        (a & M32) * (b & M32),
        s(a) * s(b),
        a >> 12,
        a & 0xFFFF,
        min(s(a, 64), s(b, 64)),
        max(a, b),
        a < b,
        s(a, 64) < s(b, 64),
        a * b + a,
        a * b + a >> 64,
        a + b,
        a + b >> 64,
    ]


def test_longs(arch):
    a, b = rng.integers(0, 2**64, (2, 64), np.uint64)
    a[:4], b[:4] = [0, M64, 2**63, M64], [M64, M64, 1, 0]
    wanted = np.array(
        [[int(w) & M64 for w in longs(*map(int, row))] for row in zip(a, b, strict=True)], np.uint64
    ).T
    found = outputs("bits", "longs", 1, 64, a, b, np.zeros(wanted.size, np.uint64), 64, arch=arch)[
        2
    ].reshape(wanted.shape)
    assert [k for k in range(len(wanted)) if (found[k] != wanted[k]).any()] == []


def test_checksums(arch):
    texts = [rng.bytes(55) for _ in range(40)]
    blocks = [t + b"\x80" + (8 * 55).to_bytes(8, "big") for t in texts]
    out = outputs(
        "bits",
        "sha256",
        2,
        20,
        np.frombuffer(b"".join(blocks), np.uint32),
        np.zeros(40 * 8, np.uint32),
        arch=arch,
    )[1]
    assert out.tobytes() == b"".join(hashlib.sha256(t).digest() for t in texts)
    data = np.frombuffer(b"".join(texts), np.uint8)
    out = outputs("bits", "crc32", 2, 20, data, 55, np.zeros(40, np.uint32), arch=arch)[1]
    assert list(out) == [zlib.crc32(t) for t in texts]


def test_substitution_of_bytes(arch):
    state, box = rng.integers(0, 256, (32, 16), np.uint8), rng.permutation(256).astype(np.uint8)
    out = outputs("bits", "substitute", 1, 32, state, np.zeros_like(state), box, 5, arch=arch)[1]
    now = state
    for r in range(5):
        v = box[now[:, np.arange(16) * 5 % 16]] ^ (r + np.arange(16)).astype(np.uint8)
        now = (v << 1) ^ (v >> 7) * np.uint8(0x1B)
    assert (out == now).all()
