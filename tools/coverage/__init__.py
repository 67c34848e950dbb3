"""Which lesson shows what of the documents the course follows, with their figures and ours.

`python -m tools.coverage` writes docs/coverage.md from resources/coverage.toml: figure.py reads the
rows and performs the lessons they name, page.py sets the table. How a figure is come by is a
function that the rows name: answers.py, and by table organisation.py, memory.py and matrices.py. It
writes docs/counters.md, too: what profilers call the counts (counters.py).
"""
