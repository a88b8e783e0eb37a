"""``python -m quaymaster`` is the ``quaymaster`` command."""

from quaymaster._cli import run_process

__all__ = ["run_process"]

if __name__ == "__main__":
    run_process()
