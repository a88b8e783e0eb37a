"""Clusters to schedule: in memory, from manifests, and behind an API server.

It may import ``_base``, ``_api``, ``_core`` and ``_kits``.

- ``inmemory``: a cluster in this process, with admission and controllers.
- ``manifests``: reads objects from files.
- ``kubernetes``: reads an API server with the access of a kubeconfig.
- ``driver``: the watches and writes of a scheduler on a real cluster.
- ``election``: the lease that selects the active replica.
"""
