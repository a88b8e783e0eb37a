"""Random histories of pods that claim devices."""
