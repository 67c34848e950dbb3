"""Where the record of a view lies in the files that hold one.

All formats keep it uncompressed, and nearly all in one piece: looking for how it begins finds it.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable

Content = mmap.mmap | bytes
# From the content of a file and the place where a record begins: the record and what follows.
FindRecord = Callable[[Content, int], bytes | None]
LONGEST = 1 << 16  # bytes of a record that is believed


def in_one_piece(content: Content, at: int) -> bytes | None:
    """What follows the place."""
    return content[at : at + LONGEST]
