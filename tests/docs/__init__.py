"""The documentation: generated pages, and snippets that must run."""
