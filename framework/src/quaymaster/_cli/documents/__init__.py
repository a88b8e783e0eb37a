"""The types of the results that commands print as JSON and YAML."""
