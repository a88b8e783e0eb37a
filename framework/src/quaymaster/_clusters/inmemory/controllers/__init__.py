"""Controllers: they make and delete the pods of workloads, and more."""
