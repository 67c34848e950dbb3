"""A trial: sm_90 machine code executed as it stands, instead of matched to its PTX."""
