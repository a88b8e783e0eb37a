"""Texts that Go parsed, and its answers: see README.md."""
