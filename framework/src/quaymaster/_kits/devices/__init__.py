"""Allocates devices to claims on one node, and counts the allocated devices."""
