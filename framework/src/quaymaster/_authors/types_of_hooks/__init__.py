"""The mypy plugin that compares hooks with their hookspecs."""
