"""Questions about clusters: simulations, plans, scenarios, records, experiments.

It may import the groups from ``_base`` to ``_authors``.

- ``simulation``: what happens? ``why``: why is a pod pending, and what helps?
- ``capacity``: how much room is left? ``planning``: which nodes are needed?
- ``changes`` and ``scenarios``: what happens after drains, failures and updates?
- ``comparing``: what differs? ``experiments`` and ``tuning``: which settings are best?
- ``recording``: what did a real scheduler do? ``reproducing``: a test of one decision.
- ``autoscaling``: which nodes would an autoscaler add and remove?
- ``gym``: a reinforcement learning environment. ``perf``: how fast is the scheduler?
"""
