"""A fuzz of input: the command ends in a result or in one-line errors."""
