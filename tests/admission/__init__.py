"""Compares admission with a real API server: what each stores and refuses.

``data/objects.jsonl.gz`` holds one object a line, with what kube-apiserver 1.36.2
stored of it or said about it; ``data/prerequisites.json`` the objects that were there.
"""
