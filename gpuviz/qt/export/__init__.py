"""Views into files."""
