"""Generates the table of all fields of the API from the published OpenAPI."""
