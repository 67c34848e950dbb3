"""Requests to sectors, lines and wavefronts, by the rules of each compute capability.

What the lanes of a warp ask for, and what it costs:

coalescing            global memory: transactions, one by one
banks                 shared memory: wavefronts, one by one
atomics               atomics on shared memory
other_spaces          constant and local memory, cp.async
strides               wavefronts of a stride by arithmetic alone
lanes                 what all of these share

What is counted of a launch:

counts, hardware          every count by its name, and the counter that should equal it
request_counts, counting  what each request counts; the sums of a launch
bulk                      what is copied in bulk
units                     what counts are called on screen
line_costs                which lines cost most, and why

What was asked of it in a trace, for pictures: request, bank_request, passes, operands.
"""
