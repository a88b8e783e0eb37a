"""Compares our decisions with recorded ones of kube-scheduler 1.36.2.

``python -m tests.parity check FILE...`` compares, ``python -m tests.parity emit FILE``
prints our decisions in the format of the records.
"""
