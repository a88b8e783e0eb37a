"""Tuning: finds the best weights and arguments of a profile for an objective."""
