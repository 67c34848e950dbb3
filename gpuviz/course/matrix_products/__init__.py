"""Chapter: products of matrices as they are written today."""
