"""Recorded decisions of kube-scheduler 1.36.2, held against ours.

``python -m tests.parity check FILE...`` compares, ``python -m tests.parity emit FILE``
prints our decisions in the format of the records.
"""
