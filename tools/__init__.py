"""What only makers of gpuviz run, each as `python -m tools.<name>`; none of it is installed.

coverage     docs/coverage.md and docs/counters.md
prebuild     the PTX of the lessons, for machines without a compiler
size         lines and files a room, beside the budget
translation  the texts that a language lacks
"""
