"""Small parts that panels and dialogs are made of."""
