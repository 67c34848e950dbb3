import pytest

from gpuviz.sass.flow import sass_blocks
from gpuviz.sass.listing import Memory, memory_of, read_listings

TEXT = """
//--------------------- .text.k          --------------------------
	.section	.text.k,"ax",@progbits
.text.k:
	//## File "/gpuviz/a.cu", line 2 inlined at "/gpuviz/a.cu", line 7
	//## File "/gpuviz/a.cu", line 7
	//## File ".nv_debug_ptx_txt", line 95
        /*0000*/                   LDS.128 R0, [R5+0x10] ;
	//## File "/gpuviz/a.cu", line 9
	//## File ".nv_debug_ptx_txt", line 97
        /*0010*/              @!P0 BRA `(.L_x_0) ;
        /*0020*/               @P1 STS.U8 [R5+UR4+-0x8], R2 ;
        /*0030*/                   STL [R1], R2   (*"SpillRefill"*) ;
.L_x_0:
        /*0040*/                   EXIT ;
//--------------------- SYMBOLS --------------------------
"""


def test_lines_guards_targets_and_spills() -> None:
    listing = read_listings(TEXT)["k"]
    load, branch, store, spill, _ = listing.instructions
    assert (load.line, load.ptx_line) == (2, 95)
    assert (branch.line, branch.ptx_line, branch.guard, branch.target) == (9, 97, "!P0", 0x40)
    assert (store.guard, store.opcode) == ("P1", "STS.U8")
    assert spill.spill and not store.spill
    assert listing.labels == {0x40: ".L_x_0"}
    assert [i.address for i in listing.memory] == [0, 0x20, 0x30]


def test_what_is_inlined_from_a_header_has_the_line_of_its_call() -> None:
    inlined = TEXT.replace('File "/gpuviz/a.cu", line 2 inlined', 'File "/x/a.cuh", line 2 inlined')
    assert read_listings(inlined)["k"].instructions[0].line == 7
    for suffix in (".h", ""):  # a function that is called there: a header's, a library's
        called = inlined.replace('File "/gpuviz/a.cu", line 9', f'File "/x/b{suffix}", line 9')
        assert read_listings(called)["k"].instructions[1].line == 0
    own = inlined.replace("/gpuviz/", "/home/")
    assert [i.line for i in read_listings(own)["k"].instructions[:2]] == [7, 9]


def test_basic_blocks() -> None:
    blocks = sass_blocks(read_listings(TEXT)["k"])
    assert [len(b.instructions) for b in blocks] == [2, 2, 1]
    assert [set(b.next) for b in blocks] == [{1, 2}, {2}, set()]


@pytest.mark.parametrize(
    ("opcode", "operands", "expected"),
    [
        ("LDG.E.128.CONSTANT", "R4, desc[UR8][R2.64+0x10]", ("global", "load", 16, "R2.64", 16)),
        ("LDS.U.64", "R4, [R2.X4+0x400]", ("shared", "load", 8, "R2.X4", 1024)),
        ("LDS.U.128", "R4, [RZ]", ("shared", "load", 16, "", 0)),
        ("STS", "[0x80], R1", ("shared", "store", 4, "", 128)),
        ("STG.E.U16", "desc[UR4][R2.64+-0x2], R1", ("global", "store", 2, "R2.64", -2)),
        ("LDG.E.ENL2.256", "R8, R4, desc[UR4][R2.64]", ("global", "load", 32, "R2.64", 0)),
        ("LDGSTS.E.BYPASS.128", "[R9], desc[UR6][R2.64]", ("global", "copy", 16, "R2.64", 0)),
        ("LDC", "R1, c[0x0][0x28]", None),
        ("LDC.64", "R2, c[0x4][RZ]", None),  # the address of a variable
        ("FADD", "R1, R2, R3", None),
        ("LDC", "R4, c[0x3][R0]", ("constant", "load", 4, "R0", 0)),
    ],
)
def test_memory_operands(opcode: str, operands: str, expected: tuple | None) -> None:
    assert memory_of(opcode, operands) == (Memory(*expected) if expected else None)
