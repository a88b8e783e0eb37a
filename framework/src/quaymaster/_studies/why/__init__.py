"""Explains why pods are pending, and finds changes that place them."""
