"""Reports for a browser."""
