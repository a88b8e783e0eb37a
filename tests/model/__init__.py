"""A naive scheduler that the engine is held against."""
