"""The arguments of VolumeBinding.

Mirrors ``VolumeBindingArgs`` (kube-scheduler 1.36.2, ``pkg/scheduler/apis/config``:
types, defaults and validation).
"""

from collections.abc import Iterator

import attrs

from quaymaster.config import ArgsError, integer

__all__ = ["UtilizationShapePoint", "VolumeBindingArgs"]


@attrs.frozen(kw_only=True)
class UtilizationShapePoint:
    """A corner of the line that turns utilization into a score.

    Attributes:
        utilization: In percent of the capacity.
        score: From 0 to 10.
    """

    utilization: int = attrs.field(default=0, validator=integer(0, 100))
    score: int = attrs.field(default=0, validator=integer(0, 10))


@attrs.frozen(kw_only=True)
class VolumeBindingArgs:
    """The arguments of VolumeBinding.

    Attributes:
        bind_timeout_seconds: How long a pod waits for its volumes before it is bound.
        shape: How storage capacity would be scored. It must not be given, as long as
            the feature gate StorageCapacityScoring is off, which it is by default.
    """

    bind_timeout_seconds: int = attrs.field(default=600, validator=integer(0))
    shape: tuple[UtilizationShapePoint, ...] | None = None

    def validate(self) -> Iterator[ArgsError]:
        """Whether a shape is given that nobody would look at."""
        if self.shape is not None:
            text = (
                "expected nothing, since the feature gate StorageCapacityScoring is "
                "off: remove it"
            )
            yield ArgsError("shape", text)
