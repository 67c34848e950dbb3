"""What suits the user: theme, text, motion, language, share of the GPU."""
