"""Plans: how many nodes of which kind are needed, and what-if questions.

- ``planning.py``: the function `plan`; ``planner.py`` answers it.
- ``search.py``: searches the cheapest plan (`Search`).
- ``round_search.py``: searches plans whose nodes are bought in rounds.
- ``trials.py``: simulates a plan.
- ``needs.py`` and ``refutation.py``: prove that some plans cannot work.
- ``what_if.py``: changes a cluster step by step.
"""
