"""What tensor cores do: which lane holds which element, and sums as the hardware rounds them."""
