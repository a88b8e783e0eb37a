"""Comparisons of configurations, plugins and inputs."""
