"""What people hand in: arrays, labels and relevance, runs, options; files are read by `readers`."""
