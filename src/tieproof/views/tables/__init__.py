"""Results as tables that people paste: Markdown, LaTeX, HTML. What is in a table does not know how it is written."""
