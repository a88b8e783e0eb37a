"""For authors of plugins: the test kit, and tools for their packages."""
