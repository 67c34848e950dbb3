"""A process of its own that owns a GPU, and the side of it that talks to the rest of gpuviz."""
