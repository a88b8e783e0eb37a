"""The cluster autoscaler of Kubernetes, loop by loop.

Mirrors kubernetes-sigs/cluster-autoscaler at 33c3f97b (1.37). Each module names the
upstream file that it follows, below ``pkg/``.
"""
