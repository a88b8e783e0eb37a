"""Upstream's messages to users that more than one part of the framework renders."""

from collections.abc import Mapping

__all__ = ["unfit_message"]


def unfit_message(nodes: int, reasons: Mapping[str, int]) -> str:
    """Render the message that a pod fits on none of the nodes, with the reasons.

    Mirrors ``FitError.Error`` (Kubernetes v1.36, ``pkg/scheduler/framework/types.go``).

    Args:
        nodes: How many nodes there are.
        reasons: Reason -> how many nodes it holds for.
    """
    text = f"0/{nodes} nodes are available:"
    if not reasons:
        return text
    # Sorted as text, count first: "10 x" comes before "2 y", as upstream has it.
    listed = sorted(f"{count} {reason}" for reason, count in reasons.items())
    return f"{text} {', '.join(listed)}."
