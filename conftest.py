"""What every test of the repository runs with: the profiles of hypothesis."""

pytest_plugins = ["tests.kit.packages", "tests.kit.profiles"]
