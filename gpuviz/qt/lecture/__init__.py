"""Making a lecture in the window: its slides in a pane, and giving it."""
