"""A debug mode: find out which plugin changes what it may only read."""
