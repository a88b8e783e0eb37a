"""``python -m quaymaster`` is the ``quaymaster`` command."""

from quaymaster._cli import main

__all__ = ["main"]

if __name__ == "__main__":
    main()
