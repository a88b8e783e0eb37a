"""Random histories of a cluster with faults, and the invariants that they must keep."""
