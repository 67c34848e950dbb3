"""What can limit a launch, in words."""

from gpuviz.words.language import later

RESOURCES: dict[str, str] = {
    "issue": later("issue"),
    "alu": later("integers and logic"),
    "fma": later("multiply-add units"),
    "fp64": later("double precision"),
    "tensor": later("tensor cores"),
    "special": later("special functions"),
    "lines": later("lines of L1"),
    "wavefronts": later("wavefronts"),
    "l2": later("L2"),
    "dram": later("memory"),
    "atomics": later("atomics"),
    "launch": later("launch of blocks"),
    "latency": later("latency"),
    "barrier": later("barriers"),
    "tail": later("tail"),
}
