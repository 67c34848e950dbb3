"""A warp's requests to global memory, told one after another: acts, sentences, what they moved."""
