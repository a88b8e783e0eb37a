"""A debug mode that finds plugins which change data that they may only read."""
