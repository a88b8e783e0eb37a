"""Devices: which ones a claim gets on a node, and which ones are taken."""
