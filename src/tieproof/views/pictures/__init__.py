"""Pictures of results (extra `plot`): one module for each kind of picture; `style` has the shared parts."""
