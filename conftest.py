"""What every test of the repository runs with."""

import gc

gc.disable()  # importing makes no garbage
pytest_plugins = ["tests.kit.packages", "tests.kit.profiles"]


def pytest_collection_finish() -> None:
    """Spare the collector all that stays anyway: it looks through it time and again."""
    gc.collect()
    gc.freeze()
    gc.enable()
