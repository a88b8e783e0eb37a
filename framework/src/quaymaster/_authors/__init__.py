"""For authors of plugins: the test kit and the packages that they publish."""
