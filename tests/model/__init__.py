"""A naive scheduler, whose decisions the engine's are compared with."""
