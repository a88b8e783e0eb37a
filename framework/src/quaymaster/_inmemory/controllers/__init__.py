"""Controllers: they make and delete the pods of workloads, and more."""

from quaymaster._inmemory.controllers.manager import Controllers

__all__ = ["Controllers"]
