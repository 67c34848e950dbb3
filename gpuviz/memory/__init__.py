"""Requests to sectors, lines and wavefronts, by the rules of each compute capability."""
