"""Compares admission with a real API server: which objects each stores and rejects.

``data/objects.jsonl.gz`` has one object on each line, with kube-apiserver 1.36.2's
stored object or error. ``data/prerequisites.json`` has the objects that existed before.
"""
