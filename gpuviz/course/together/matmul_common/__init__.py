"""What the four lessons on a product of matrices share."""
