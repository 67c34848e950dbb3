"""Facts of each compute capability from 1.0 to 12.1, each with its source.

facts   what is known of one capability: sizes, limits, and the names of the rules that hold
table   the numbers: a row a capability, a row for what changed with a family, and the disputes

The rules themselves are functions of `gpuviz.memory` and `gpuviz.arch.occupancy`, found by their
names.
"""

from gpuviz.arch.facts import Architecture
from gpuviz.arch.table import ARCHITECTURES, SOURCES, architecture

__all__ = ["ARCHITECTURES", "SOURCES", "Architecture", "architecture"]
