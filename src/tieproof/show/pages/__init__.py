"""HTML pages of results (extra `report`): a template for each kind of result, and shared parts."""
