"""Chapter: shared memory, constants, and the other spaces."""
