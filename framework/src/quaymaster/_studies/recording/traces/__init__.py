"""Converts public traces of clusters to records."""
