"""Changes of a cluster that people ask about: drain, scale, remove, apply."""
