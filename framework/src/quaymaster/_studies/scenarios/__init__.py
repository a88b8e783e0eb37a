"""Scenarios: timelines in virtual time, with assertions."""
