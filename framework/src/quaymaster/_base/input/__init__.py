"""Reads input text: files, streams, JSON and YAML."""
