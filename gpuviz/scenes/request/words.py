"""Moved to gpuviz.memory.transaction_names; here until every lesson imports it from there."""

from gpuviz.memory.transaction_names import counted as counted
from gpuviz.memory.transaction_names import in_bytes as in_bytes
from gpuviz.memory.transaction_names import nouns as nouns
