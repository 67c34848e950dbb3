"""Other programs, and workers of our own: started safely, bounded in memory and time."""
