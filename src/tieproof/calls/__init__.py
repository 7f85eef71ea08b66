"""The public functions, one file each, and the modules that they share."""
