"""Experiments: inputs x profiles x parameters x seeds, measured and kept."""
