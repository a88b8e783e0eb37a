"""Experiments: measured runs of inputs x profiles x parameters x seeds."""
