"""Results as tables for other documents, in Markdown, LaTeX or HTML; a `Table` does not depend on the format."""
