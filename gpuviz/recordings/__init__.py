"""What a GPU said of launches: measurements, and the files they are kept in."""
