"""What was before: undo and redo, recent views, links, settings, the session after a crash."""
