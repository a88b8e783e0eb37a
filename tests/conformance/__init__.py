"""All recorded sets in one table: ``python -m tests.conformance``."""
