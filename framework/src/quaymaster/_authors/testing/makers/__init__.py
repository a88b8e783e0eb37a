"""Makers of objects for tests and simulations, by subject.

Every argument is a keyword and has a default, amounts are as in manifests
(``requests={"cpu": "500m"}``), and common cases have a short form
(``taints=["dedicated=gpu:NoSchedule"]``, see `quaymaster._authors.testing.shorthand`).
The same arguments always make equal objects, their uids included.
"""
