"""Leader election: which of several replicas works, and that no other one writes."""
