"""Kubernetes' and CEL's libraries of functions, one module per subject."""
