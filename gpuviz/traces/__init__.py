"""What a launch did to memory, as immutable records: the seam between running and drawing."""
