"""Reads public traces of clusters, and makes records of them."""
