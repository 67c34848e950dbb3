"""The clock, and what follows it: the stage, the time line, the buttons."""
