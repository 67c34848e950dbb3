"""A view as one line of text to paste: `gpuviz://coalescing?stride=2&.t=4`.

What is not said is as usual: parameters have their defaults, the architecture is sm_90, counts are
of the machine code. Names that begin with a dot are not parameters: `.arch`, `.level`, `.t` (the
moment in seconds), `.compare_arch`; `.launch.file` and the like tell how a kernel of the user's own
is launched. `b.stride` is the parameter of the second variant; where that is of another lesson, or
launch, `.compare_lesson` and `.beside.file` and the like say of which.
"""

from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from gpuviz.base.errors import InputError
from gpuviz.views.provenance import Provenance, Value, Values

SCHEME = "gpuviz"
_SECOND, _LAUNCH, _BESIDE = "b.", ".launch.", ".beside."
_ARCH, _LEVEL = "sm_90", "sass"
_PLAIN = {".arch", ".level", ".t", ".compare_arch", ".compare_lesson"}


def link(view: Provenance) -> str:
    """The line; size and colours of the picture are left out, as everybody has their own."""
    told: list[tuple[str, str]] = _pairs("", view.values)
    if view.arch != _ARCH:
        told.append((".arch", view.arch))
    if view.level != _LEVEL:
        told.append((".level", view.level))
    told += _pairs(_SECOND, view.compare_values)
    if view.compare_arch:
        told.append((".compare_arch", view.compare_arch))
    if view.compare_lesson:
        told.append((".compare_lesson", view.compare_lesson))
    if view.time > 0:
        told.append((".t", f"{view.time:.3f}".rstrip("0").rstrip(".")))
    told += _pairs(_LAUNCH, view.launch) + _pairs(_BESIDE, view.compare_launch)
    # Names of files may be no text.
    query = urlencode(told, quote_via=quote, safe="=,/~[]@", errors="surrogateescape")
    return f"{SCHEME}://{quote(view.lesson)}" + (f"?{query}" if query else "")


def parse(text: str) -> Provenance:
    """The view that a line tells of; its values are texts (`perform.check_values` makes them fit).

    Raises
    ------
    InputError : it is no such line, or something in it cannot be read
    """
    try:
        parts = urlsplit(text.strip())
    except ValueError:  # a bracket where a host's address would be
        parts = urlsplit("")
    if parts.scheme != SCHEME or not parts.netloc:
        raise InputError(
            f"{text.strip()[:60]!r} is no link to a view; one begins with {SCHEME}://LESSON"
        )
    told = dict(parse_qsl(parts.query, keep_blank_values=True, errors="surrogateescape"))
    for name in told:
        if name.startswith(".") and name not in _PLAIN and not name.startswith((_LAUNCH, _BESIDE)):
            raise InputError(f"the link says {name}, which this gpuviz does not know: update it")
    begins: dict[str, dict[str, Value]] = {_LAUNCH: {}, _BESIDE: {}, _SECOND: {}, ".": {}, "": {}}
    for name, value in told.items():
        begin = next(filter(name.startswith, begins))
        begins[begin][name.removeprefix(begin)] = value
    return Provenance(
        unquote(parts.netloc),
        begins[""],
        told.get(".arch", _ARCH),
        told.get(".level", _LEVEL),
        begins[_SECOND],
        told.get(".compare_arch", ""),
        _time(told.get(".t", "0")),
        launch=begins[_LAUNCH],
        compare_lesson=told.get(".compare_lesson", ""),
        compare_launch=begins[_BESIDE],
    )


def _pairs(before: str, values: Values) -> list[tuple[str, str]]:
    return [(before + name, str(value)) for name, value in values.items()]


def _time(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found < 1e6:
        raise InputError(f"the link's moment .t={text} is no time in seconds")
    return found
