"""Zip files as no packer writes them: bombs, links, names that lead elsewhere, sizes that lie."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterable
from functools import cache
from random import Random

from tests.hostile.mutation import changed_bytes

Member = tuple[str, bytes]
_ELSEWHERE = (
    *(
        "../{}",
        "../../../home/{}",
        "/tmp/{}",
        "/{}",
        "C:\\{}",
        "C:{}",
        "\\\\host\\share\\{}",
        "..\\{}",
    ),
    *(
        "kernels/../../{}",
        "kernels/..\\..\\{}",
        "kernels/{}\x00.cu",
        "kernels/\x1b[2J{}",
        "./{}",
        "~/{}",
    ),
    *(
        "kernels//{}",
        "kernels/{}/",
        "kernels/CON",
        "kernels/{}:stream",
        "KERNELS/{}",
        "",
        "/",
        ".",
        "..",
    ),
    *(
        "kernels/" + "d/" * 200 + "{}",
        "kernels/" + "x" * 5000 + "{}",
        "kernels/\u202e{}",
        "programs/{}",
    ),
)
_MIB = 1 << 20


def packed(random: Random, members: Iterable[Member], attacks: int = 1) -> bytes:
    """The members in a zip, changed in some way."""
    found = list(members)
    if random.random() < 0.15:
        return changed_bytes(random, plain(found))
    made = b""
    for _ in range(attacks):
        made = random.choice(_ATTACKS)(random, found)
    return made


def plain(members: Iterable[Member]) -> bytes:
    """As any packer does it."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content)
    return made.getvalue()


def _renamed(random: Random, members: list[Member]) -> bytes:
    at = random.randrange(len(members))
    name = members[at][0].rpartition("/")[2]
    stranger = (random.choice(_ELSEWHERE).format(name), members[at][1])
    return plain([*members, stranger] if random.random() < 0.6 else [*members[:at], stranger])


def _linked(random: Random, members: list[Member]) -> bytes:
    """A member that is a symbolic link, and one that lies behind it."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in members:
            archive.writestr(name, content)
        link = zipfile.ZipInfo("kernels/link")
        link.create_system = 3
        kind = random.choice((stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFDIR))
        link.external_attr = (kind | 0o777) << 16
        archive.writestr(link, random.choice(("/etc/passwd", "../../../home", "..", "/dev/zero")))
        archive.writestr("kernels/link/mine.cu", b"behind it")
    return made.getvalue()


def _twice(random: Random, members: list[Member]) -> bytes:
    name, content = random.choice(members)
    again = random.choice((content, b"", b"another", content[: len(content) // 2]))
    name = random.choice((name, name.upper(), name + "/", name.replace("/", "\\")))
    return plain([*members, (name, again)])


def _many(random: Random, members: list[Member]) -> bytes:
    return plain([*members, *((f"kernels/{n}.h", b"") for n in range(random.choice((300, 2500))))])


def _without(random: Random, members: list[Member]) -> bytes:
    return plain(random.sample(members, random.randrange(len(members))))


def _nested(random: Random, members: list[Member]) -> bytes:
    made = plain(members)
    for _ in range(random.choice((1, 5, 50))):
        made = plain([(random.choice(members)[0], made)])
    return made if random.random() < 0.3 else plain([*members, ("kernels/inner.zip", made)])


def _bomb(random: Random, members: list[Member]) -> bytes:
    """A member that unpacks to gigabytes, with its true size or another."""
    at = random.randrange(len(members))
    mebibytes = random.choice((64, 600, 4000))
    said = random.choice((mebibytes * _MIB, 100, len(members[at][1]), 0))
    name = random.choice((members[at][0], "kernels/big.h", "recordings/big.gpurec"))
    return _written([*members[:at], *members[at + 1 :]], (name, _zeros(mebibytes), said))


def _overlapping(random: Random, members: list[Member]) -> bytes:
    """One compressed member under many names."""
    return _written(members, *[(f"kernels/{n}.h", _zeros(60), 60 * _MIB) for n in range(40)])


def _marked(random: Random, members: list[Member]) -> bytes:
    """Said to be encrypted, or packed by a method or a version that is none."""
    made = bytearray(plain(members))
    places = [
        at for at in range(len(made) - 4) if made[at : at + 4] in (b"PK\x01\x02", b"PK\x03\x04")
    ]
    for at in random.sample(places, random.randint(1, len(places))):
        start = at + (6 if made[at + 2] == 1 else 4)  # the version it takes
        offset, number = random.choice(((0, 99), (2, 1), (2, 1), (2, 8), (4, 12), (4, 99), (4, 14)))
        made[start + offset] = number
    return bytes(made)


def _sized(random: Random, members: list[Member]) -> bytes:
    """Sizes, checksums and places in the directory that are not so."""
    made = bytearray(plain(members))
    places = [at for at in range(len(made) - 46) if made[at : at + 4] == b"PK\x01\x02"]
    at = random.choice(places)
    field = random.choice((16, 20, 24, 28, 30, 42))
    number = random.choice((0, 1, 2**31 - 1, 2**32 - 2, 2**32 - 1, random.getrandbits(32)))
    made[at + field : at + field + 4] = number.to_bytes(4, "little")
    return bytes(made)


_ATTACKS = (
    *(_renamed, _renamed, _linked, _twice, _many, _without, _nested),
    *(_bomb, _bomb, _overlapping, _marked, _marked, _sized, _sized),
)


@cache
def _zeros(mebibytes: int) -> bytes:
    """So many MiB of zeros, compressed: one piece, over and over."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = packer.compress(bytes(4 * _MIB)) + packer.flush(zlib.Z_FULL_FLUSH)
    return piece * (mebibytes // 4) + zlib.compressobj(9, zlib.DEFLATED, -15).flush()


def _written(members: list[Member], *strange: tuple[str, bytes, int]) -> bytes:
    """A zip whose strange members have the compressed content and the size that are given."""
    made, directory = bytearray(), bytearray()
    kept: dict[bytes, int] = {}
    for name, content in members:
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        body = packer.compress(content) + packer.flush()
        _add(made, directory, name, body, len(content), zlib.crc32(content), len(made))
    for name, body, size in strange:
        at = kept.setdefault(body, len(made))  # those of one content lie in one place
        _add(made, directory, name, body, size, 0, at)
    count = len(members) + len(strange)
    end = struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, count, count, len(directory), len(made), 0)
    return bytes(made + directory + end)


def _add(
    made: bytearray, directory: bytearray, name: str, body: bytes, size: int, crc: int, at: int
) -> None:
    said = name.encode()
    facts = struct.pack("<HHHHHIII", 20, 0, 8, 0, 33, crc, len(body), size & 0xFFFFFFFF)
    if at == len(made):
        made += (
            struct.pack("<I", 0x04034B50) + facts + struct.pack("<HH", len(said), 0) + said + body
        )
    rest = struct.pack("<HHHHHII", len(said), 0, 0, 0, 0, 0, at)
    directory += struct.pack("<IH", 0x02014B50, 20) + facts + rest + said
