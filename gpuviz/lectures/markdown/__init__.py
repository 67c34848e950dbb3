"""Words in Markdown: read into blocks, and set on a stage as marks, formulas and pictures too."""
