"""Which nodes Karpenter removes or replaces, in which order, and what prevents it."""
