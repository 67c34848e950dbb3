"""The checksum by which a kernel's source is known."""

from __future__ import annotations

import hashlib


def source_hash(source: str) -> str:
    """Checksum of a kernel's source, the same for either kind of line ending."""
    return hashlib.sha256(source.replace("\r\n", "\n").encode()).hexdigest()
