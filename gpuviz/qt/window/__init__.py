"""The main window: its panes, what it remembers, and how all parts are wired."""
