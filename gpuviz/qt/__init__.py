"""The window. The only folder that knows Qt."""
