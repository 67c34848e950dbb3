"""The suffixes of files that are gpuviz's own kinds; pictures and films are in `export.formats`."""

KERNELS = (".cu", ".cuh", ".ptx")
TRACE = ".gputrace"
RECORDING = ".gpurec"
LECTURE = ".gpuviz-lecture"
OPENED = (*KERNELS, LECTURE, TRACE, RECORDING)  # all of these
