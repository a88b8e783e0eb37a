"""Hostile clients and hostile servers, on the loopback interface."""
