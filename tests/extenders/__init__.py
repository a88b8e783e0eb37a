"""Decisions of the real kube-scheduler with extenders, and ours beside them."""
