"""Opening a kernel of the user's own."""
