"""Makes the table of all fields of the API from its published OpenAPI."""
