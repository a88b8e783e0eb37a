"""Tests that cross packages."""
