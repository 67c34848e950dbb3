"""Any kernel's run as a story: its events in their order, and the pictures there are of each."""
