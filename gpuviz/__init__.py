"""gpuviz shows what a GPU's memory system makes of a real CUDA kernel.

The layers, lowest first; a file imports only from its own layer or a lower one:

errors      what can go wrong, each with the thing, the value and the remedy
            beside it: arrays (types of arrays), resources (files that ship), folders (of the user),
            files (written whole), checksums (of what ships), bounded (files read with a limit; zips
            and npy likewise), free_memory and heap, disk_cache (what can be made again), local
            (paths that a file names) and reach (which of them it may name), records (in files) and
            archive (with arrays, in a zip), language (texts in the reader's language), glossary
            (the field's words), checks (what is looked for in a launch), fuzzy (finding by
            letters), suffixes (of files), processes (other programs, started safely),
            worker_process (one that answers requests), stopping (work nobody wants any more),
            doctor (system libraries), terminal (where texts go to it)
arch        facts of each compute capability, each with its source
trace       the immutable record a run leaves behind: the seam between running and drawing
            (trace_file saves and loads it; observe is the page of what can be observed while it
            runs; arguments are kernel arguments as text)
compile     CUDA C to PTX, cubin and log, through NVRTC
ptx         PTX text to a whole-launch SIMT emulation: text (read), arithmetic (what opcodes
            compute), simt (the machine), decode (instructions to steps of it), checks
            (races and the like, as sinks), compiled (the same as machine code), emulator
memory      requests to sectors, lines, wavefronts, per compute capability
sass        what the assembler made of the PTX: merged and removed accesses
occupancy   what limits the resident blocks of a multiprocessor; roofline: what bandwidth and
            arithmetic allow
runners     launch a kernel: emulated, recorded, or on a GPU; session: what has been opened
            beside it: sweeps (one or two things varied over many launches, here or on a cluster)
draw        marks, palette and layout: a picture as data
panels      the parts pictures are made of: each draws values it is given
scenes      the lessons, one a file
views       what is shown: a lesson with its values at a moment, as a record, a link, a history
results     what runs come to: counts, times and code as rows, words and charts
export      views to files
lectures    what is shown in which order, what a class is asked, what the speaker says
qt          the window; the only folder that knows Qt
app, cli    entry points; prebuild compiles the lessons' kernels for machines that cannot;
            translation collects the texts people read; coverage holds the lessons against the
            documents they come from
"""

__version__ = "0.1.0"
