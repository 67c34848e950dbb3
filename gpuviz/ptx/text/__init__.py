"""PTX text to a `Module`: tokens, declarations, bodies."""
