"""Indexes over objects of the cluster, for plugins."""
