"""Fuzzes input: the command must end in a result or in one-line errors."""
