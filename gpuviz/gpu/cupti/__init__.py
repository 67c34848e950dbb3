"""Hardware counters through CUPTI, NVIDIA's profiling library, with ctypes alone."""
