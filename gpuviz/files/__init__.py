"""Files as gpuviz reads and writes them: bounded, whole or not at all, where they may be."""
