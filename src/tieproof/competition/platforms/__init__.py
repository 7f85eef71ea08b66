"""Platforms that host competitions, one file each: what their bundles hold, and how these are run."""
