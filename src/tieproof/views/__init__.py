"""Views of results: texts, tables, pictures, pages and files."""
