"""The engine: one thread that owns all state and takes pods through the stations."""
