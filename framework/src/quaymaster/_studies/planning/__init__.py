"""How many nodes of which kind are needed."""
