"""Questions about clusters: simulations, plans, scenarios, records, experiments.

It may import the groups from ``_base`` to ``_authors``.
"""
