"""Why nodes stayed, whenever the reason changed, for explanations."""

from collections.abc import Mapping

from quaymaster._studies.simulation.scaling import ReasonSince

__all__ = ["ReasonHistory"]


class ReasonHistory:
    """Keeps why each node stayed, whenever the reason changed."""

    def __init__(self) -> None:
        self._reasons: dict[str, list[ReasonSince]] = {}

    def note(self, reasons: Mapping[str, str], since: float) -> None:
        """Note the reasons, by node, and the time in seconds since the beginning."""
        for name, why in reasons.items():
            history = self._reasons.setdefault(name, [])
            if not history or history[-1].why != why:
                history.append(ReasonSince(since=since, why=why))

    def of(self, name: str) -> tuple[ReasonSince, ...]:
        """Return the reasons of a node, in order."""
        return tuple(self._reasons.get(name, ()))
