"""The in-memory cluster behind `quaymaster.inmemory`.

- ``cluster.py``: the calls that a scheduler makes to a cluster.
- ``admission``: completes and rejects objects, as an API server does.
- ``store.py``: the objects, and the log of changes that watches read.
- ``controllers``: creates the pods of workloads, binds claims, evicts pods.
- ``quotas``: counts what ResourceQuotas limit.
- ``kubelet.py``: starts and ends bound pods.
"""
