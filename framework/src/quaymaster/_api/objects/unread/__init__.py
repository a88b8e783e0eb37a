"""Checks the fields of pods that objects do not keep, when a new object is read.

No code reads these fields, such as the environment or a security context, so they have
no class. Pods that differ in them share one spec.
"""
