"""The nearest items of queries in exact order, with complete ties."""
