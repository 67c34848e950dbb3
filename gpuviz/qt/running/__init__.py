"""What is performed and measured, off the GUI thread; the view shown; two variants compared."""
