"""The languages by their own names."""

from __future__ import annotations

LANGUAGES = {"en": "English", "es": "español"}
