"""A kernel file as its user opens it: what its kernels take, how people write their arguments, and
what is kept of that beside the file.

c_types.py      types of the source, laid out as the compiler does
signature.py    what a kernel takes: names, types, fields of structures
variables.py    its __constant__ and __device__ data
proposals.py    arguments that may do for a first try
scope.py        names and what they come to: `n`, `p.width`, `block.x`
written.py      arguments as people write them, as launches take them
settings.py     NAME.gpuviz.toml, which keeps all that beside the file
"""
