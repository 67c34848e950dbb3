"""What stands on a badge: where a number comes from, in one word."""

from __future__ import annotations

from gpuviz.words import later

BADGES = {
    "model": later("model"),
    "live": later("live"),
    "recorded": later("recorded"),
    "unavailable": later("unavailable"),
}
