"""The in-memory cluster behind `quaymaster.memory`."""
