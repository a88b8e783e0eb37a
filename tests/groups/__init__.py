"""Recordings of groups: requests to an API server, and clusters that are scheduled."""
