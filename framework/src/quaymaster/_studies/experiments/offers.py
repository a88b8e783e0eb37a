"""Finds inputs and metrics that distributions offer, and imports their classes."""

import importlib
import inspect
from collections.abc import Mapping, Sequence
from typing import Final, Generic, TypeVar, cast

import attrs

from quaymaster._base.raised import describe_exception, is_from_outside
from quaymaster._base.suggestions import did_you_mean
from quaymaster._core.config.converter import structure
from quaymaster._core.config.findings import BrokenClassError, Findings
from quaymaster._core.registry.offers import offers
from quaymaster._studies.experiments.inputs import ExperimentInput
from quaymaster._studies.experiments.interference import Interference
from quaymaster._studies.experiments.metrics import Column, Metric

__all__ = [
    "INPUTS",
    "INTERFERENCES",
    "METRICS",
    "OfferedClasses",
    "Used",
    "import_class",
]

T = TypeVar("T")


@attrs.frozen(kw_only=True)
class Used(Generic[T]):
    """A class of inputs or metrics, with its parameters.

    Attributes:
        origin: The place of the class: ``package.module:Class``.
        parameters: The parameters, as in the file.
    """

    origin: str
    parameters: Mapping[str, object]


@attrs.frozen(kw_only=True)
class OfferedClasses(Generic[T]):
    """The offered classes of one kind.

    Attributes:
        group: Their entry-point group.
        parent: Their base class.
        what: The name of their kind.
    """

    group: str
    parent: type
    what: str

    def used(
        self,
        use: str,
        parameters: Mapping[str, object],
        findings: Findings,
        path: str,
        name_path: str,
    ) -> Used[T] | None:
        """Find a class, and check the parameters for it.

        Args:
            use: The class: an offered name, or ``package.module:Class``.
            parameters: The parameters.
            findings: Receives mistakes.
            path: The place of the parameters.
            name_path: The place of the name.
        """
        try:
            origin = self._origin(use)
            kind = self._class(origin)
            _, mistakes = structure(dict(parameters), kind)
        except (LookupError, BrokenClassError) as error:
            findings.add(name_path, str(error.args[0]))
            return None
        findings.extend(path, mistakes)
        return Used(origin=origin, parameters=parameters)

    def build(self, used: Used[T]) -> T:
        """Build an instance; its class and parameters have been checked."""
        instance, mistakes = structure(dict(used.parameters), self._class(used.origin))
        assert isinstance(instance, self.parent), mistakes
        return cast(T, instance)

    def columns(self, used: Used[Metric]) -> Sequence[Column]:
        """Return what the columns of a metric hold, if its class describes them."""
        columns: Sequence[Column] = getattr(self._class(used.origin), "columns", ())
        return columns

    def curves_over(self, used: Used[Metric]) -> str:
        """Return the x of the curves of a metric."""
        return str(getattr(self._class(used.origin), "curves_over", "x"))

    def is_reproducible(self, used: Used[Metric]) -> bool:
        """Whether equal runs have equal results of a metric."""
        return bool(getattr(self._class(used.origin), "is_reproducible", True))

    def _origin(self, use: str) -> str:
        if ":" in use:
            return use
        offered = {offer.entry.name: offer.entry.value for offer in offers(self.group)}
        if use not in offered:
            names = ", ".join(sorted(offered)) or "none"
            hint = did_you_mean(use, offered)
            raise LookupError(
                f"expected {self.what} (installed: {names}) or a class as "
                f"package.module:Class, got {use!r}{hint}"
            )
        return offered[use]

    def _class(self, origin: str) -> type[T]:
        origin_class = import_class(origin)
        if not (issubclass(origin_class, self.parent) and attrs.has(origin_class)):
            name = self.parent.__name__
            raise LookupError(
                f"expected an attrs class that derives from {name}, got {origin!r}"
            )
        if inspect.isabstract(origin_class):
            missing = ", ".join(sorted(origin_class.__abstractmethods__))
            raise LookupError(f"{origin!r} lacks {missing}")
        return cast("type[T]", origin_class)


def import_class(origin: str) -> type:
    """Import a class by its place, ``package.module:Class``.

    Raises:
        LookupError: The class does not exist.
    """
    module, _, name = origin.partition(":")
    try:
        imported: object = importlib.import_module(module)
        for part in name.split("."):
            imported = getattr(imported, part)
    except BaseException as error:
        if is_from_outside(error):
            raise
        problem = f"{origin!r} could not be imported: {describe_exception(error)}"
        raise LookupError(problem) from error
    if not isinstance(imported, type):
        raise LookupError(f"expected a class, got {origin!r}, which is none")
    return imported


INPUTS: Final = OfferedClasses[ExperimentInput](
    group="quaymaster.experiment_inputs", parent=ExperimentInput, what="an input"
)
METRICS: Final = OfferedClasses[Metric](
    group="quaymaster.experiment_metrics", parent=Metric, what="a metric"
)
INTERFERENCES: Final = OfferedClasses[Interference](
    group="quaymaster.experiment_interferences",
    parent=Interference,
    what="a model of interference",
)
