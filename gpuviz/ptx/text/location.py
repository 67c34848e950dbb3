"""`.loc`: the line of CUDA source that the following instructions come from."""

from __future__ import annotations

from gpuviz.ptx.text.stream import Stream, number_value

_SOURCE = 1  # number of the file that was compiled; others are headers


def cuda_line(s: Stream) -> int | None:
    """`.loc file line column [, function_name label, inlined_at file line column]`; the line.

    A location in a header is that of the place in the source it was inlined at, None if it does not
    say so.
    """
    s.next()
    file, line = _place(s)
    while s.accept(","):
        word = s.next()
        if word == "function_name":
            s.next()
            while s.accept("+"):
                s.next()
        elif word == "inlined_at":
            outer = _place(s)
            if file != _SOURCE and outer[0] == _SOURCE:
                file, line = outer
    while s.peek() in ("is_stmt", "prologue_end", "discriminator"):
        s.next()
        if s.peek_kind() == "number":
            s.next()
    return line if file == _SOURCE else None


def _place(s: Stream) -> tuple[int, int]:
    """File and line; the column is dropped."""
    file, line = number_value(s.next()), number_value(s.next())
    s.next()
    return file, line
