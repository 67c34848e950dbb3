"""Which lesson shows what of the documents the course follows, with their figures and ours.

`python -m gpuviz.coverage` writes docs/coverage.md. Each system of the documents is a `Row` with
one or more `Figure`s (figure.py); the rows are data (organisation.py, memory.py, matrices.py);
page.py performs the lessons they name and sets the table. It writes docs/counters.md, too: what
profilers call the counts (counters.py).
"""
