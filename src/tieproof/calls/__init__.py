"""The public calls, a file for each, and what they share."""
