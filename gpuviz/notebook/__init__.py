"""gpuviz in notebooks: a magic for cells of CUDA C, and pictures with sliders."""
