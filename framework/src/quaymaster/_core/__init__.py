"""The scheduler: contract, state, queue, cycles and the engine that drives them.

It may import ``_base`` and ``_api``. Read it in the order of a pod's life:

- ``contract``: what plugins, clusters and the scheduler promise each other.
- ``engine``: the loop in ``scheduler.py``, informers, event handlers, failures.
- ``queue``: where pods wait, and which events wake them.
- ``state``: nodes and pods as a scheduling cycle sees them.
- ``cycle``: one attempt, from PreFilter to the chosen node.
- ``binding``: Reserve, Permit, PreBind, Bind and PostBind.
- ``memo``: cached answers of plugins. Decisions are the same without it.

``config``, ``registry`` and ``runtime`` turn a configuration into plugins that can be
called; ``extenders`` calls HTTP extenders; ``mutations`` finds plugins that change what
they must not change.
"""
