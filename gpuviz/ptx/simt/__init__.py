"""A batch of blocks executed in step: lanes, groups, memories, barriers."""
