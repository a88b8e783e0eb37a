"""A simple scheduler, with which the engine's decisions are compared."""
