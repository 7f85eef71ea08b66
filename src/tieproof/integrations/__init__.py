"""Where people evaluate already: a file or package for each library, imported by name, since each needs its library.

`docs/integrations` has a page for each.
"""
