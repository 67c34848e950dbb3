"""What CUDA text says: device code aside for NVRTC, line by line as it was, and what the host does.

parts.py        what a text is made of at its top level, and which of it is device code
definitions.py  functions, templates, names and macros of texts, and where their launches are
constants.py    what expressions come to where the text alone says it
host_run.py     what the host code does up to its launches; its statements, expressions, values
c_types.py      types of the source, laid out as the compiler does
"""
