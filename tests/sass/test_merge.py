from gpuviz.sass.listing import SassInstruction
from gpuviz.sass.pair import Piece, windows


def _sass(address: int, opcode: str, place: str, ptx_line: int) -> SassInstruction:
    return SassInstruction(address, "", "", opcode, f"R0, [{place}]", 1, ptx_line)


def test_one_wide_load_covers_four() -> None:
    pieces = [Piece(i, 10 + i, 4 * i, 4) for i in range(4)]
    (only,) = windows(pieces, [_sass(0, "LDS.128", "R7+0x40", 10)])
    assert (only.start, only.width, only.leader.pc) == (0, 16, 0)


def test_a_merged_load_whose_middle_nobody_needs() -> None:
    pieces = [Piece(0, 10, 4, 4), Piece(1, 11, 12, 4)]
    found = [_sass(0, "LDS", "R8+0x4", 10), _sass(16, "LDS", "R8+0xc", 10)]
    assert [(w.start, w.leader.pc) for w in windows(pieces, found)] == [(4, 0), (12, 0)]


def test_stores_take_the_line_of_their_last_member() -> None:
    pieces = [Piece(i, 10 + i, 4 * i, 4) for i in range(2)]
    (only,) = windows(pieces, [_sass(0, "STS.64", "R7", 11)])
    assert (only.start, only.leader.pc) == (0, 1)


def test_absolute_and_relative_addresses_share_the_work() -> None:
    pieces = [Piece(i, 10 + i % 4, 4 * i, 4) for i in range(12)]
    found = [
        _sass(0, "LDS.128", "RZ", 10),
        _sass(16, "LDS.128", "0x10", 10),
        _sass(32, "LDS.128", "R3+0x20", 10),
    ]
    assert sorted(w.start for w in windows(pieces, found)) == [0, 16, 32]


def test_nothing_fits() -> None:
    assert windows([Piece(0, 10, 0, 4)], [_sass(0, "LDS", "R7", 99)]) == ()
