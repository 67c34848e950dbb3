"""gpuviz from Python and notebooks: what `import gpuviz` offers. Each name is loaded when used."""
