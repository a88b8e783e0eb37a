"""The names of objects in the recordings: those that a Job's controller made vary."""

from quaymaster import ApiObject

__all__ = ["shown_name"]


def shown_name(obj: ApiObject) -> str:
    """Return an object's name, or its kind and its Job if the Job controls it."""
    controller = obj.metadata.controller
    if controller is None or controller.kind != "Job":
        return obj.name
    return f"{obj.kind.lower()}-of-{controller.name}"
