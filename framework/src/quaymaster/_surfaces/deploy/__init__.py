"""Preparing a scheduler for a cluster: rights, manifests, and checks."""
