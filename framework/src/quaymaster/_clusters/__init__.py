"""Clusters to schedule: in memory, from manifests, and behind an API server.

It may import ``_base``, ``_api``, ``_core`` and ``_kits``.
"""
