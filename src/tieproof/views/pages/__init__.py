"""Pages of results (extra `report`): one file for each, whose words stand in `templates`, and what they share.

A page is one file that needs no network, no second file and no JavaScript to be read.
"""
