"""What happened and what to tell about it: the log, unexpected exceptions, diagnostics."""
