"""For authors of plugins: the test kit, and tools for their packages.

It may import the groups from ``_base`` to ``_clusters``.
"""
