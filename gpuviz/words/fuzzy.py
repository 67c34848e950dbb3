"""Fuzzy finding: do the letters typed occur in this order, and how well."""


def score(wanted: str, text: str) -> float | None:
    """How well `text` fits what was typed, higher is better; None when it does not fit.

    Every word typed must be found: whole, or its letters in order. Beginnings of words count most.
    """
    total = 0.0
    for word in wanted.lower().split():
        found = _word(word, text.lower())
        if found is None:
            return None
        total += found
    return total - len(text) / 1000.0


def _word(word: str, text: str) -> float | None:
    at = text.find(word)
    if at >= 0:
        return 2.0 * len(word) + (2.0 if _begins(text, at) else 0.0) + (1.0 if at == 0 else 0.0)
    return _letters(word, text)


def _letters(word: str, text: str) -> float | None:
    """Letters in order: one point for each that begins a word or follows the one before."""
    points, last = 0.0, -1
    for letter in word:
        at = text.find(letter, last + 1)
        if at < 0:
            return None
        points += 0.5 if at == last + 1 or _begins(text, at) else -0.5
        last = at
    return points if points > 0 else None


def _begins(text: str, at: int) -> bool:
    return at == 0 or not text[at - 1].isalnum()
