"""What a pod wants in all, as the policies look at it."""

import attrs
from quaymaster import Pod
from quaymaster.objects import pod_requests

from quaymaster_openb.gpus import FULL, GpuRequest

__all__ = ["Wish"]


@attrs.frozen
class Wish:
    """The requests of a pod; the policies ignore memory.

    Attributes:
        cpu: In thousandths of a core.
        count: How many GPUs; 0 for a CPU pod.
        milli: How many thousandths of each.
    """

    cpu: int
    count: int = 0
    milli: int = 0

    @classmethod
    def of(cls, pod: Pod) -> "Wish":
        """Read a pod."""
        cpu, gpus = pod_requests(pod).milli_cpu, GpuRequest.of(pod)
        return cls(cpu) if gpus is None else cls(cpu, gpus.count, gpus.milli)

    @property
    def total(self) -> int:
        """The thousandths of all GPUs."""
        return self.count * self.milli

    @property
    def is_shared(self) -> bool:
        """Whether it wants a part of one GPU."""
        return self.count == 1 and self.milli < FULL
