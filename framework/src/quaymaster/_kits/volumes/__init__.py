"""Volumes, claims and classes: what volume plugins and the in-memory cluster share.

That is which claims a pod has, which volume a claim gets, which nodes can reach a
volume, and how CSI drivers see the volumes of in-tree plugins.
"""
