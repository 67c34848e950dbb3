"""What is asserted of a run: claims about its counts, pinned counts, and reports of both."""
