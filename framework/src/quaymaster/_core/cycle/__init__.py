"""The scheduling cycle: finds the node for a pod.

- ``algorithm.py``: one attempt, station by station (`Algorithm.schedule`).
- ``pre_filter.py``, ``filtering.py``, ``scoring.py``, ``post_filter.py``: the stations.
- ``filter_call.py`` and ``score_call.py``: the only calls of Filter and Score.
- ``diagnosis.py``: which node was rejected by which plugin, and the message.
- ``nominated.py``: filters with the pods that are nominated to a node.
- ``explain.py``: the same attempt with the results of all plugins on all nodes.
"""
