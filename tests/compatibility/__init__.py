"""What was written against an earlier version still works."""
