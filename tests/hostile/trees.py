"""Plain values, as JSON holds them, changed in some places."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from random import Random
from typing import Any

from tests.hostile import nasty
from tests.hostile.mutation import changed_bytes, changed_text, encoded

Place = tuple[Any, Any]  # what holds a value, and its key or index there


def changed(random: Random, plain: Any, most: int = 3) -> Any:
    """The values with some replaced, taken away, doubled, exchanged, or with strangers beside."""
    made = copy.deepcopy(plain)
    for _ in range(random.randint(1, most)):
        places = list(_places(made))
        if not places:
            return nasty.value(random)
        holder, key = random.choice(places)
        match random.randrange(8):
            case 0 | 1 | 2 | 3:
                holder[key] = nasty.value(random)
            case 4:
                del holder[key]
            case 5:
                holder[key] = _copy(*random.choice(places))
            case 6 if isinstance(holder, dict):
                holder[nasty.word(random)] = nasty.value(random)
            case _:
                holder[key] = [holder[key]] * random.choice((0, 1, 2, 5000))
    return made


def as_json(random: Random, plain: Any) -> bytes:
    """The values changed, and now and then their text."""
    text = _text(changed(random, plain) if random.random() < 0.85 else plain)
    match random.randrange(12):
        case 0:
            return encoded(changed_text(random, text))
        case 1:
            return changed_bytes(random, encoded(text))
        case 2:  # a name twice, and what follows the end
            return encoded(text.replace("{", '{"x": 1, "x": ' + "9" * 400 + ", ", 1) + "{}")
        case 3:
            return random.choice((b"", b"[" * 100_000, b"\xff\xfe", b"null", b"1e999", b"\x00" * 9))
    return encoded(text)


def _copy(holder: Any, key: Any) -> Any:
    try:
        return copy.deepcopy(holder[key])
    except RecursionError:  # one of those that are nested deeply
        return None


def _text(plain: Any) -> str:
    try:
        return json.dumps(plain, ensure_ascii=False)
    except (RecursionError, ValueError):  # too deep, or a number that is too long
        return "[" * 5000 + "]" * 5000


def _places(plain: Any) -> Iterator[Place]:
    waiting = [plain]
    while waiting:
        holder = waiting.pop()
        if not isinstance(holder, dict | list):
            continue
        for key in list(holder) if isinstance(holder, dict) else range(min(len(holder), 64)):
            yield holder, key
            waiting.append(holder[key])
