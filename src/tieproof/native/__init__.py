"""How kernels become machine code, and the threads that run it."""
