"""The minor versions of Kubernetes that can be simulated, one module each."""
