"""The in-memory cluster behind `quaymaster.inmemory`."""
