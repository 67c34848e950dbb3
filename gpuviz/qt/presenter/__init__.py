"""Showing a lecture: the class sees the screen, the speaker the notes."""
