"""Views to files."""
