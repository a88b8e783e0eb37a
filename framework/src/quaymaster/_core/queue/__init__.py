"""The scheduling queue: selects the next pod, and requeues rejected pods on events.

- ``scheduling_queue.py``: the queue as the engine sees it (`SchedulingQueue`).
- ``sub_queues.py``: where a pod waits: active, backoff or unschedulable.
- ``gates.py``: calls PreEnqueue.
- ``hints.py``: decides which events requeue a rejected pod.
- ``in_flight.py``: the events during an attempt.
- ``nominator.py``: the pods that are nominated to a node.
- ``group_queue.py`` and others: the same for PodGroups.
"""
