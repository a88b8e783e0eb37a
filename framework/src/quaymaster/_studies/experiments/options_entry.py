"""The scheduler options of an experiment file."""

from collections.abc import Sequence

import attrs

from quaymaster._core.config.errors import ArgsError
from quaymaster._core.config.fields import integer, number
from quaymaster._core.contract.options import SchedulerOptions

__all__ = ["OptionsEntry"]


@attrs.frozen(kw_only=True)
class OptionsEntry:
    """Options of the scheduler that are not part of its configuration.

    Attributes:
        max_in_unschedulable_seconds: How long a rejected pod waits for an event that
            requeues it; after that, the next flush requeues it.
            kube-scheduler's flag ``--pod-max-in-unschedulable-pods-duration``.
        flush_gated_pods: Whether that flush also runs PreEnqueue for gated pods; with
            Kubernetes 1.37 it always does.
        check_mutations: Whether each hook is checked for changes of its read-only
            arguments; slow.
        verify: Every Nth decision is repeated with scalar hooks alone and without
            caches; 0 for none. The option ``--verify`` overrides it.
        slow_hook_seconds: How long a hook may take before it is reported; 0 for no
            limit.
        kept_attempts: How many of the last attempts are kept for explanations.
        daemon_sets_first: Whether pending pods of DaemonSets are tried before all
            other pods, as autoscalers assume.
    """

    max_in_unschedulable_seconds: float = attrs.field(default=300.0, validator=number())
    flush_gated_pods: bool = False
    check_mutations: bool = False
    verify: int = attrs.field(default=0, validator=integer(0))
    slow_hook_seconds: float = attrs.field(default=1.0, validator=number(0))
    kept_attempts: int = attrs.field(default=4096, validator=integer(0))
    daemon_sets_first: bool = False

    def validate(self) -> Sequence[ArgsError]:
        """Check that seconds are above 0."""
        seconds = self.max_in_unschedulable_seconds
        if seconds > 0:
            return []
        message = f"expected seconds above 0, got {seconds}"
        return [ArgsError("maxInUnschedulableSeconds", message)]

    def made(self) -> SchedulerOptions:
        """Return the options for a scheduler."""
        options = attrs.asdict(self, recurse=False)
        options["slow_hook_seconds"] = self.slow_hook_seconds or None
        return SchedulerOptions(**options)
