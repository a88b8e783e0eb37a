"""Reads text that comes in: files, streams, JSON and YAML."""
