"""Many launches of one kind: one or two things varied, everything counted or measured of each.

axis        what is varied, and through which values
subject     what is launched: the jobs of one cell; a kernel file whose launch follows its values
cell        the work on one cell, wherever it is done
quantity    what can be shown of a cell
workers     processes that do the work here, and a cluster that does it elsewhere
record      the file that finished cells are kept in as they come
sweep       all together: what is left to do, done

What a lesson offers to vary is in `scenes.swept`; the picture of it, `results.sweep_picture`.
"""
