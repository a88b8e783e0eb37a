"""Clusters to schedule: in memory, from manifests, and behind an API server."""
