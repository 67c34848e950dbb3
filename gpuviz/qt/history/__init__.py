"""Views seen before: undo and redo, recent views, links, and the session that survives a crash."""
