"""A .cu file with a host program in it: its device code alone, for NVRTC, line by line as it was.

parts.py      what a text is made of at its top level, and which of it is device code
headers.py    the headers of a project, found and split alike
repair.py     what to leave out, or take back in, after the compiler has spoken
launches.py   the launches that the host code writes: kernel<<<grid, block, shared>>>(...)
splitting.py  all of it together
"""
