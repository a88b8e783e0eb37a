"""Clusters behind an API server: access to one, and reading its objects."""
