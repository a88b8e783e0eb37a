"""The engine: one thread that owns all state and runs pods through the stations."""
