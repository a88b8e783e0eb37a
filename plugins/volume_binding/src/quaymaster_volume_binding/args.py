"""The arguments of VolumeBinding.

Mirrors ``VolumeBindingArgs`` (kube-scheduler 1.36.2 and 1.37.2,
``pkg/scheduler/apis/config``: types, defaults and validation).
"""

import itertools
from typing import Final

import attrs

from quaymaster.config import ArgsError, Kubernetes, integer

__all__ = ["UtilizationShapePoint", "VolumeBindingArgs"]


@attrs.frozen(kw_only=True)
class UtilizationShapePoint:
    """A point of the function from utilization to score.

    Attributes:
        utilization: In percent of the capacity.
        score: From 0 to 10.
    """

    utilization: int = attrs.field(default=0, validator=integer(0, 100))
    score: int = attrs.field(default=0, validator=integer(0, 10))


_GATE: Final = "StorageCapacityScoring"
_FREE_IS_BEST: Final = (
    UtilizationShapePoint(utilization=0, score=10),
    UtilizationShapePoint(utilization=100, score=0),
)


@attrs.frozen(kw_only=True)
class VolumeBindingArgs:
    """The arguments of VolumeBinding.

    Attributes:
        bind_timeout_seconds: How long a pod waits for its volumes before it is bound.
        shape: The score function for the utilization of storage: points by rising
            utilization. It needs the feature gate StorageCapacityScoring, which is on
            by default since Kubernetes 1.37; without the gate, a shape is an error.
    """

    bind_timeout_seconds: int = attrs.field(default=600, validator=integer(0))
    shape: tuple[UtilizationShapePoint, ...] | None = None

    def completed(self, kubernetes: Kubernetes) -> "VolumeBindingArgs":
        """Return the arguments with the default shape, if shapes are used.

        Raises:
            ArgsError: The shape is invalid, or would have no effect.
        """
        # ``ValidateVolumeBindingArgs`` rejects a shape while the gate is off, rather
        # than ignoring it.
        if not kubernetes.enabled(_GATE):
            if self.shape is None:
                return self
            text = f"expected nothing, since the feature gate {_GATE} is off: remove it"
            raise ArgsError("shape", text)
        if self.shape is None:
            return attrs.evolve(self, shape=_FREE_IS_BEST)
        if not self.shape:
            raise ArgsError("shape", "expected at least one point, got none")
        for index, (point, after) in enumerate(itertools.pairwise(self.shape), 1):
            if point.utilization >= after.utilization:
                raise ArgsError(
                    f"shape[{index}].utilization",
                    f"expected more than {point.utilization}, got {after.utilization}",
                )
        return self
