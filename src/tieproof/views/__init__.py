"""How results are shown: as text, as pictures, in files."""
