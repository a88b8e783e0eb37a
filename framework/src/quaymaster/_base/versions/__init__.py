"""The minor versions of Kubernetes whose scheduler can be played, one module each."""
