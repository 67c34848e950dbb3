"""The panel of times, and where blocks ran."""
