"""Pictures of results (extra `plot`): one file for each, and what they share in `style`."""
