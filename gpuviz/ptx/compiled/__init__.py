"""A second engine: PTX to machine code of this processor, through LLVM.

It does what the engine of `simt` does, bit by bit, or says why it does not take a launch. `graph`
lays a kernel out as blocks, `uniformity` finds what is the same in all lanes of a warp, `converged`
and `divergent` write the code for warps whose lanes are together and for those that have parted,
`build` makes machine code of it, and `engine` executes a launch and tells the sinks what it did.
"""
