"""How much room there is, and how many more pods fit."""
