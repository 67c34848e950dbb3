"""What helps at the start: the tour, what to look for, what can be guessed and tried."""
