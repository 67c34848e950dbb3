"""A launch, run without a GPU: emulated, counted, its time predicted, explained, verified."""
