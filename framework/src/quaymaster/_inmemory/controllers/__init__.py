"""What keeps workloads at the size they want to have."""

from quaymaster._inmemory.controllers.manager import Controllers

__all__ = ["Controllers"]
