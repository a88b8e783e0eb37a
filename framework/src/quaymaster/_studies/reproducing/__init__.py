"""Generates a test of a decision: the smallest cluster with the same decision."""
