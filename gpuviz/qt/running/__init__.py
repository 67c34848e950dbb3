"""What is performed and measured, off the GUI thread, and how two variants are compared."""
