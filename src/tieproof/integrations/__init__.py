"""Where people already evaluate: a thin file for each library, which imports the library when it is imported."""
