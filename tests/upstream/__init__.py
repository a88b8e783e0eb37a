"""Kubernetes' own unit tests, played: `python -m tests.upstream`."""
