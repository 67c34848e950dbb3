"""Many launches of one kind: one or two things varied, everything counted or measured of each.

axis        what is varied, and through which values
subject     what is launched: a lesson or a file, and the job of one cell
swept       what a view offers to vary: a lesson's parameters, sizes of a user's launch
cell        the work on one cell, wherever it is done
quantity    what can be shown of a cell
workers     processes that do the work here, and a cluster that does it elsewhere
record      the file that finished cells are kept in as they come
picture     what is known so far as a map, or as bars
sweep       all together: what is left to do, done
"""
