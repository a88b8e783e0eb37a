"""Text that comes in: files, streams, JSON and YAML."""
