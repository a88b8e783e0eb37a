"""Tuning: the weights and arguments of a profile that serve an objective best."""
