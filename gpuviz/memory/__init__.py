"""Requests to sectors, lines and wavefronts, by the rules of each compute capability.

What the lanes of a warp ask for, and what it costs:

coalescing, segments, half_warps    global memory: transactions, one by one, and those of 1.x
banks, bank_schedule, tesla         shared memory: wavefronts, one by one, and those of 1.x
strides                             wavefronts of a stride by arithmetic alone
atomics, copies, local, constant    shared atomics, cp.async, local and constant memory
lanes, patterns                     what all of these share; requests that look alike

What is counted of a launch:

counts, hardware                    every count by its name, and the counter that should equal it
request_counts, counting            what each request counts; the sums of a launch
footprint                           sectors that are loaded at all
derived, units, transaction_names   numbers made of two counts; what all of them are called

What was asked of it in a trace, for pictures: request, bank_request, served, strip.
"""
