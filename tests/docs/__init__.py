"""The documentation: pages that are made from code, and snippets that must run."""
