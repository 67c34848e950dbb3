"""Views, and what became of one, in words that a person understands."""

import re

from gpuviz.arch import ARCHITECTURES
from gpuviz.story.lesson import Lesson
from gpuviz.views.history import changes
from gpuviz.views.provenance import Provenance, Value, Values
from gpuviz.views.state import LEVELS
from gpuviz.words.language import later, tr

_MOST = 2  # changes told of one by one
_LONGEST = 90  # letters


_FIELDS = {
    "grid": later("grid"),
    "block": later("block"),
    "shared": later("dynamic shared bytes"),
    "defines": later("macros"),
    "options": later("compiler options"),
}


def described(view: Provenance, lesson: Lesson) -> str:
    """A view: the lesson, how its parameters differ from the defaults, the architecture."""
    parts = [tr(lesson.title), *_sizes(view.launch)]
    parts += _settings(view.values, lesson.defaults(), lesson)
    if view.compared:
        other = [_beside(view)] if view.compare_lesson else []
        other = other or _settings(view.compare_values, view.values, lesson)
        other += [_arch(view.compare_arch)] if view.compare_arch else []
        parts.append(tr("beside {other}", other=", ".join(other) or tr("the same")))
    parts.append(_arch(view.arch))
    if view.level == "ptx":
        parts.append(tr(LEVELS[view.level]))
    return _cut(" · ".join(parts))


def difference(before: Provenance, after: Provenance, old: Lesson, new: Lesson) -> str:
    """What a change changed, from its lesson before to the one after: `stride 2 → 5`."""
    what = changes(before, after)
    if "lesson" in what:
        return _cut(_arrow(tr(old.title), tr(new.title)))
    said = _launched(before.launch, after.launch) if before.launch else []
    said += _values(before.values, after.values, new)
    said += [
        f"B: {text}"
        for text in _values(before.compare_values, after.compare_values, new)
        if "compare" not in what
    ]
    if "compare" in what:
        said.append(tr("A beside B") if after.compared else tr("A alone"))
    if "arch" in what:
        said.append(_arrow(_arch(before.arch), _arch(after.arch)))
    if "b.arch" in what:
        sides = (_arch(view.compare_arch or view.arch) for view in (before, after))
        said.append(f"B: {_arrow(*sides)}")
    if "b.lesson" in what:
        said.append(f"B: {_beside(after) or tr(new.title)}")
    if "level" in what:
        said.append(_arrow(tr(LEVELS[before.level]), tr(LEVELS[after.level])))
    more = ["…"] if len(said) > _MOST else []
    return _cut(", ".join(said[:_MOST] + more))


def _beside(view: Provenance) -> str:
    """What B is of, where that is another lesson: a file, or the lesson's name."""
    return str(view.compare_launch.get("file", view.compare_lesson)).rpartition("/")[2]


def _sizes(launch: Values) -> list[str]:
    """The grid and the block of a kernel of the user's own."""
    if not {"grid", "block"} <= set(launch):
        return []
    return [f"<<<{_plain(launch['grid'])}, {_plain(launch['block'])}>>>"]


def _plain(value: Value) -> str:
    """Sizes without trailing ones: `64` for `64,1,1`; other texts as they are."""
    return re.sub(r"(,1)+$", "", str(value)) or "–"


def _launched(before: Values, after: Values) -> list[str]:
    """What changed of the way a kernel of the user's own is launched."""
    said = [
        f"{tr(_FIELDS[key])} {_arrow(*(_plain(one.get(key, '')) for one in (before, after)))}"
        for key in _FIELDS
        if before.get(key) != after.get(key)
    ]
    old, new = (str(one.get("arguments", "")).split() for one in (before, after))
    if old == new:
        return said
    if len(old) != len(new):
        return [*said, tr("other arguments")]
    return said + [_arrow(a, b) for a, b in zip(old, new, strict=True) if a != b]


def _values(before: Values, after: Values, lesson: Lesson) -> list[str]:
    """Each parameter that changed; just the preset's name when several became one together."""
    known = [p for p in lesson.parameters if before.get(p.id) != after.get(p.id)]
    preset = _preset(after, lesson)
    if preset and len(known) > 1:
        return [preset]
    return [
        f"{tr(p.label)} {_arrow(p.shown(before[p.id]), p.shown(after[p.id]))}"
        for p in known
        if p.id in before and p.id in after
    ]


def _settings(values: Values, usual: Values, lesson: Lesson) -> list[str]:
    """What is not as usual, or the preset that it is."""
    known = [p for p in lesson.parameters if p.id in values and values[p.id] != usual.get(p.id)]
    preset = _preset(values, lesson) if known else ""
    return [preset] if preset else [f"{tr(p.label)} {p.shown(values[p.id])}" for p in known]


def _preset(values: Values, lesson: Lesson) -> str:
    for preset in lesson.presets:
        if {**lesson.defaults(), **preset.values} == dict(values):
            return tr(preset.label)
    return ""


def _arch(sm: str) -> str:
    found = next((a for a in ARCHITECTURES if a.sm == sm), None)
    return f"CC {found.version}" if found else sm


def _arrow(before: str, after: str) -> str:
    return f"{before} → {after}"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1].rstrip() + "…"
