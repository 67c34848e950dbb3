"""What CUDA text says: device code aside for NVRTC, line by line as it was, and what the host does.

parts.py      what a text is made of at its top level, and which of it is device code
headers.py    the headers of a project, found and split alike
launches.py   the launches that the host code writes: kernel<<<grid, block, shared>>>(...) and
              what templates around them are made with
constants.py  what expressions come to where the text alone says it; formulas.py where it does not
c_types.py    types of the source, laid out as the compiler does
spread.py     every memory expression on a line of its own
"""
