"""Integrations into other libraries, a package for each. Import a package by name, because it needs its library.

`docs/integrations` has a page for each library.
"""
