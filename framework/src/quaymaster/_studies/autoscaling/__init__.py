"""Autoscalers in virtual time: they add and remove the nodes of a simulated cluster."""
