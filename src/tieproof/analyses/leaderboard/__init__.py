"""A leaderboard of many systems: how far ties alone can move each, and who cannot be told apart."""
