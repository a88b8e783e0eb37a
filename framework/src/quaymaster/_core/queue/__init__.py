"""The scheduling queue: which pod is tried next, and what wakes the others."""
