"""Chapter: requests to global memory."""
