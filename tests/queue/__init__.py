"""Plays upstream's traces of the scheduling queue against our queue."""
