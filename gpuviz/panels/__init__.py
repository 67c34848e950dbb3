"""Panels: the parts pictures are made of. A lesson says what a panel shows; the panel draws it.

A panel is an immutable record of values (never a trace, never a lesson) that knows how much room
it wants and how to draw itself in the room it gets. It owns its fades, hover texts, picks, and what
it keeps back while a class is asked. `layout` puts panels in rows and columns, as data; `picture`
makes a frame of a title, a sentence and a layout; `script` says when what happens.
"""
