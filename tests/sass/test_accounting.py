"""Every memory instruction of the machine code belongs to exactly one place of the plan."""

from collections import Counter

import pytest

from gpuviz.ptx.text.parser import parse
from gpuviz.sass.listing import disassemble, read_listings
from gpuviz.sass.match import make_plan
from tests.sass.kernels import together

pytestmark = [pytest.mark.slow, pytest.mark.machine_code]


@pytest.mark.parametrize("arch", ["sm_75", "sm_90", "sm_120"])
def test_each_machine_instruction_is_accounted_for_once(arch: str) -> None:
    program = together(arch)
    module, listings = parse(program.ptx), read_listings(disassemble(program.cubin))
    assert len(listings) > 120
    for name, listing in listings.items():
        plan = make_plan(module, listing)
        used = Counter(e.sass.address for m in plan.matches.values() for e in m.emits)
        used.update(e.sass.address for _, e in plan.idle + plan.spills)
        jump_tables = {i.address for i in plan.unaccounted if i.opcode == "LDC"}
        expected = Counter(i.address for i in listing.memory if i.address not in jump_tables)
        assert used == expected, name
        rest = {pc for pc, m in plan.matches.items() if m.kind == "unmatched"}
        assert not rest or plan.origin, name  # only what an unrolled loop would have left over
