"""The arguments of LoadAware.

After ``TargetLoadPackingArgs`` (sigs.k8s.io/scheduler-plugins v0.34.7,
``apis/config``).
"""

from collections.abc import Iterator

import attrs
from quaymaster.config import ArgsError, integer, matching, number

__all__ = ["LoadAwareArgs"]


@attrs.frozen(kw_only=True)
class LoadAwareArgs:
    """The arguments of LoadAware.

    Attributes:
        metrics_url: Where load-watcher answers; a ``file:`` URL will do as well.
        period_seconds: The time between a response and the next request.
        timeout_seconds: How long to wait for a server that says nothing.
        max_age_seconds: For how long the last measures hold; after that, what pods
            request decides.
        target_utilization: The CPU load that nodes should have, in percent.
        requests_multiplier: How much CPU a pod is expected to use, as a multiple of
            what it requests.
        limit_percent: Nodes that would be above this load are refused; none by default.
    """

    metrics_url: str = attrs.field(
        default="http://127.0.0.1:2020/watcher",
        validator=matching(r"(https?|file)://.+", "an http:, https: or file: URL"),
    )
    period_seconds: int = attrs.field(default=30, validator=integer(1))
    timeout_seconds: int = attrs.field(default=5, validator=integer(1))
    max_age_seconds: int = attrs.field(default=300, validator=integer(1))
    target_utilization: int = attrs.field(default=40, validator=integer(1, 99))
    requests_multiplier: float = attrs.field(default=1.5, validator=number(0))
    limit_percent: int | None = None

    def validate(self) -> Iterator[ArgsError]:
        """Whether the limit is one."""
        if self.limit_percent is not None and self.limit_percent < 1:
            yield ArgsError(
                "limitPercent", f"expected at least 1, got {self.limit_percent}"
            )
