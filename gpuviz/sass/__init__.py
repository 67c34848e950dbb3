"""What the assembler made of the PTX: the memory instructions of a cubin."""
