"""All checks of the contract suite."""

from collections.abc import Mapping
from typing import Final

from quaymaster._authors.testing.contract.annotations import ANNOTATIONS
from quaymaster._authors.testing.contract.argument_values import ARGUMENT_VALUES
from quaymaster._authors.testing.contract.arguments import ARGUMENTS
from quaymaster._authors.testing.contract.assumed_pods import ASSUMED_PODS
from quaymaster._authors.testing.contract.batch_work import BATCH_WORK
from quaymaster._authors.testing.contract.binding import BINDING
from quaymaster._authors.testing.contract.bound_pods import BOUND_PODS
from quaymaster._authors.testing.contract.check import Check
from quaymaster._authors.testing.contract.choices import CHOICES
from quaymaster._authors.testing.contract.determinism import DETERMINISM, STALENESS
from quaymaster._authors.testing.contract.earlier_objects import EARLIER_OBJECTS
from quaymaster._authors.testing.contract.effects import EFFECTS
from quaymaster._authors.testing.contract.endless_attempts import ENDLESS_ATTEMPTS
from quaymaster._authors.testing.contract.events import EVENTS, HINTS
from quaymaster._authors.testing.contract.evicting import EVICTING
from quaymaster._authors.testing.contract.facts import FACTS
from quaymaster._authors.testing.contract.failed_writes import FAILED_WRITES
from quaymaster._authors.testing.contract.failures import FAILURES
from quaymaster._authors.testing.contract.group_gates import GROUP_GATES
from quaymaster._authors.testing.contract.groups import (
    GROUP_RESCUE,
    PLACEMENT_SCORES,
    PLACEMENTS,
    QUORUM,
)
from quaymaster._authors.testing.contract.imagined_pods import (
    CLONES,
    IMAGINING,
    TERMINATING,
)
from quaymaster._authors.testing.contract.interleaving import INTERLEAVING
from quaymaster._authors.testing.contract.leaks import LEAKS
from quaymaster._authors.testing.contract.left_objects import LEFT_OBJECTS
from quaymaster._authors.testing.contract.lost_writes import LOST_WRITES
from quaymaster._authors.testing.contract.memory import MEMORY
from quaymaster._authors.testing.contract.metrics import METRICS
from quaymaster._authors.testing.contract.namespaces import NAMESPACES
from quaymaster._authors.testing.contract.node_order import NODE_ORDER
from quaymaster._authors.testing.contract.object_changes import OBJECT_CHANGES
from quaymaster._authors.testing.contract.outages import OUTAGES
from quaymaster._authors.testing.contract.outside_data import OUTSIDE_DATA
from quaymaster._authors.testing.contract.owners import OWNERS
from quaymaster._authors.testing.contract.periodic_timers import PERIODIC_TIMERS
from quaymaster._authors.testing.contract.pod_endings import POD_ENDINGS
from quaymaster._authors.testing.contract.pod_use import POD_USE
from quaymaster._authors.testing.contract.pre_bind_runs import PRE_BIND
from quaymaster._authors.testing.contract.purity import PURITY
from quaymaster._authors.testing.contract.registrations import REGISTRATIONS
from quaymaster._authors.testing.contract.releases import RELEASES
from quaymaster._authors.testing.contract.renaming import RENAMING
from quaymaster._authors.testing.contract.repeated_results import REPEATS
from quaymaster._authors.testing.contract.reserve import UNRESERVE
from quaymaster._authors.testing.contract.restarts import RESTARTS
from quaymaster._authors.testing.contract.rights import RIGHTS
from quaymaster._authors.testing.contract.running_tasks import RUNNING_TASKS
from quaymaster._authors.testing.contract.scope import SCOPE
from quaymaster._authors.testing.contract.scores import NORMALIZATION, SCORE_RANGE
from quaymaster._authors.testing.contract.shared_state import SHARED_STATE
from quaymaster._authors.testing.contract.signature import SIGNATURE
from quaymaster._authors.testing.contract.skips import (
    BINDING_SKIPS,
    SKIPPED_FILTER,
    SKIPS,
)
from quaymaster._authors.testing.contract.sort_keys import SORT_KEYS
from quaymaster._authors.testing.contract.starting import STARTING
from quaymaster._authors.testing.contract.successors import SUCCESSORS
from quaymaster._authors.testing.contract.suggestions import SUGGESTIONS
from quaymaster._authors.testing.contract.surroundings import OTHER_PROCESS
from quaymaster._authors.testing.contract.ties import TIES
from quaymaster._authors.testing.contract.time_passing import TIME
from quaymaster._authors.testing.contract.timed_filters import TIMED_FILTERS
from quaymaster._authors.testing.contract.timed_gates import TIMED_GATES
from quaymaster._authors.testing.contract.timers import TIMERS
from quaymaster._authors.testing.contract.twin import TWIN
from quaymaster._authors.testing.contract.unresolvable import UNRESOLVABLE
from quaymaster._authors.testing.contract.uptime import UPTIME
from quaymaster._authors.testing.contract.victim_twins import VICTIM_TWINS
from quaymaster._authors.testing.contract.waiting_pods import WAITING_PODS

__all__ = ["CHECKS"]

CHECKS: Final[Mapping[str, Check]] = {
    check.name: check
    for check in (
        ANNOTATIONS,
        ARGUMENTS,
        ARGUMENT_VALUES,
        LEAKS,
        MEMORY,
        METRICS,
        REGISTRATIONS,
        SHARED_STATE,
        EFFECTS,
        FAILURES,
        PURITY,
        TWIN,
        BATCH_WORK,
        DETERMINISM,
        OTHER_PROCESS,
        NODE_ORDER,
        INTERLEAVING,
        STALENESS,
        OBJECT_CHANGES,
        STARTING,
        TIME,
        UPTIME,
        TIMED_GATES,
        TIMED_FILTERS,
        TIMERS,
        PERIODIC_TIMERS,
        OUTSIDE_DATA,
        SCORE_RANGE,
        NORMALIZATION,
        TIES,
        PLACEMENTS,
        PLACEMENT_SCORES,
        QUORUM,
        GROUP_RESCUE,
        GROUP_GATES,
        SIGNATURE,
        RENAMING,
        SCOPE,
        SKIPS,
        SKIPPED_FILTER,
        POD_USE,
        FACTS,
        SUGGESTIONS,
        IMAGINING,
        TERMINATING,
        UNRESOLVABLE,
        CLONES,
        UNRESERVE,
        ASSUMED_PODS,
        BINDING_SKIPS,
        CHOICES,
        RESTARTS,
        POD_ENDINGS,
        BOUND_PODS,
        PRE_BIND,
        FAILED_WRITES,
        LOST_WRITES,
        OUTAGES,
        RUNNING_TASKS,
        EARLIER_OBJECTS,
        LEFT_OBJECTS,
        OWNERS,
        SUCCESSORS,
        WAITING_PODS,
        RELEASES,
        ENDLESS_ATTEMPTS,
        NAMESPACES,
        BINDING,
        SORT_KEYS,
        HINTS,
        EVENTS,
        EVICTING,
        REPEATS,
        VICTIM_TWINS,
        RIGHTS,
    )
}
"""Name -> check, in the order in which they run."""
