"""The panel of counts: predicted, measured, and what is between."""
