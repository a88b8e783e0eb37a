"""From a chosen node to a bound pod: Reserve, Permit, PreBind, Bind and PostBind.

- ``stations.py``: calls the plugins of these extension points.
- ``waiting_pods.py``: where a pod waits on Permit.
- ``executor.py``: runs bindings, inline or on threads.
"""
