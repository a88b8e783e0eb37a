"""Plugins and programs for an earlier version still work."""
