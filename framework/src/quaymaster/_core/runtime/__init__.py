"""Profiles: plugins, built from a configuration and compiled into plans of calls."""
