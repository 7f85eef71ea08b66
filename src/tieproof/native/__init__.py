"""The kernels in C, how they are compiled and called, and the threads that run them."""
