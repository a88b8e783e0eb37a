"""Explain which taints of a node a pod does not tolerate."""

from collections.abc import Iterable, Sequence

from quaymaster.objects import Taint, Toleration, is_tolerated

__all__ = ["explain_taints"]

_HARD = ("NoSchedule", "NoExecute")


def explain_taints(
    taints: Iterable[Taint],
    tolerations: Sequence[Toleration],
    *,
    compares_numbers: bool,
) -> Sequence[str]:
    """Return which taints reject a pod, and its tolerations that nearly cover them.

    Args:
        taints: The taints of the node.
        tolerations: The tolerations of the pod.
        compares_numbers: Whether tolerations with ``Gt`` and ``Lt`` count.
    """
    untolerated = [
        taint
        for taint in taints
        if taint.effect in _HARD
        and not is_tolerated(taint, tolerations, compares_numbers=compares_numbers)
    ]
    if not untolerated:
        return ()
    keys = {taint.key for taint in untolerated}
    near = [toleration for toleration in tolerations if toleration.key in keys]
    names = ", ".join(map(_taint_text, untolerated))
    but = f" (tolerates only {', '.join(map(_toleration_text, near))})" if near else ""
    return [f"does not tolerate {names}{but}"]


def _taint_text(taint: Taint) -> str:
    value = f"={taint.value}" if taint.value else ""
    return f"{taint.key}{value}:{taint.effect}"


def _toleration_text(toleration: Toleration) -> str:
    sign = {"": "=", "Equal": "=", "Gt": ">", "Lt": "<"}.get(toleration.operator)
    value = "" if sign is None else f"{sign}{toleration.value}"
    return f"{toleration.key}{value}:{toleration.effect or 'any effect'}"
