"""One instruction to one step: a function of the group that executes it."""
