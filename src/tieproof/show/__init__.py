"""How results are shown: as text, tables, files, pictures and pages."""
