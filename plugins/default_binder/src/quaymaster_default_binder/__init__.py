"""Bind a pod to its node through the cluster."""

from quaymaster_default_binder.default_binder import DefaultBinder

__all__ = ["DefaultBinder"]
