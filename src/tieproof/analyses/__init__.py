"""A folder for each question beside evaluation: its function, its result, its tables and its pictures."""
