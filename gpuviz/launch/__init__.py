"""A launch as its user asks for it: what a kernel takes, arguments as people write them, what is
kept beside the file, and whether a device would accept it.

signature.py    what a kernel takes: names, types, fields of structures
host_launch.py  what the host code of a file says of a launch
proposals.py    arguments that may do for a first try
argument_texts.py  arguments as people write them, as launches take them
texts.py        the launch in its user's words; settings.py keeps these beside the file
job.py          the launch as it is run, held against a device's limits
"""
