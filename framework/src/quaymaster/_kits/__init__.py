"""What plugins build on: volumes, devices, preemption, indexes.

It may import ``_base``, ``_api`` and ``_core``.

- ``volumes``: claims, volumes and the nodes that reach them.
- ``devices``: allocates devices to ResourceClaims.
- ``preemption``: finds victims, and evicts them.
- ``indexes``: columns and indexes that follow the objects of a cluster.
"""
