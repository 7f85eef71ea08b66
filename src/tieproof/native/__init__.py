"""The C kernels, and the modules that compile, load and call them and run them in threads."""
