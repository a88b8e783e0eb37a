"""Clusters behind an API server: how to reach one, and what is in it; read only."""
