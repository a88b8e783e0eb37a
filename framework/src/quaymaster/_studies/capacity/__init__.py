"""Measures the room in a cluster, and how many more pods fit."""
