"""HTML pages of results (extra `report`): a module and a template for each kind of result, and shared parts.

A page is a single file that can be read without network, other files or JavaScript.
"""
