"""Chapter: kernels in which all of it meets."""
