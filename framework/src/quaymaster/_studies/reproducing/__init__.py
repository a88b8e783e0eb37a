"""Makes a test of a decision: the smallest cluster in which it is still made."""
