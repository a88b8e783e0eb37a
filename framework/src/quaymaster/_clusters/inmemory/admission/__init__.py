"""Admission: what an API server does to objects before it stores them.

`Admission` in ``admission.py`` is the only way in; it completes and checks objects by
kind.
"""
