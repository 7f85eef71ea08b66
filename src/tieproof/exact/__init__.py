"""Which of two items is nearer, decided as in real arithmetic; README.md beside this file derives the bounds."""
