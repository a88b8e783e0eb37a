"""Random histories of a cluster with faults, and what must hold through them."""
