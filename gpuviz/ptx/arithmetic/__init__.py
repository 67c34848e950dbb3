"""What every arithmetic opcode of PTX does, as functions of bit containers."""
