"""Packages of plugins: what makes a new one, shows one, and checks one."""
