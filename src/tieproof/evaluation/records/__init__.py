"""Records: results as files that others can read and verify."""
