"""What plugins build on: volumes, devices, preemption, indexes.

It may import ``_base``, ``_api`` and ``_core``.
"""
