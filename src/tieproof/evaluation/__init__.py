"""Evaluations: the calls that take users' data to ties and measures, and the result that they return."""
