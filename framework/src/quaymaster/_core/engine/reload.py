"""Replaces the configuration between two attempts."""

import logging
from collections.abc import Collection, Mapping, Sequence

from quaymaster._api.objects import Pod
from quaymaster._core.config.changes import ConfigChanges
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.engine.assembly import Engine
from quaymaster._core.engine.framework import Framework, backoff_policy, queue_profiles
from quaymaster._core.queue.queued_pod import QueuedPod

__all__ = ["reload"]

_log = logging.getLogger(__name__)


def reload(engine: Engine, config: SchedulerConfig) -> ConfigChanges:
    """Replace the configuration; see `Scheduler.reload`.

    Raises:
        ProfileError: A profile's plugins cannot be built.
        ExtenderError: An extender's URL or certificates cannot be used.
    """
    runner = engine.runner
    removed: Sequence[QueuedPod] = ()

    def renew_queue(frameworks: Mapping[str, Framework]) -> None:
        nonlocal removed
        profiles = queue_profiles(
            frameworks, config, daemon_sets_first=runner.options.daemon_sets_first
        )
        removed = engine.queue.reload(profiles, backoff_policy(config))

    before = frozenset(runner.frameworks)
    changes = runner.reload(config, renew_queue)
    _queue_pods_of(runner.frameworks.keys() - before, engine)
    engine.progress.note_change()
    if runner.groups is not None:
        for queued in removed:
            runner.groups.remove(queued.pod)
    if removed:
        _log.warning("%d pending pods no longer have a profile", len(removed))
    return changes


def _queue_pods_of(scheduler_names: Collection[str], engine: Engine) -> None:
    """Queue the pending pods of new profiles, except those assumed on a node."""
    runner = engine.runner
    for pod in runner.informers.list(Pod) if scheduler_names else ():
        if pod.spec.scheduler_name not in scheduler_names:
            continue
        has_node = pod.node_name or runner.cache.is_assumed(pod.uid)
        if not has_node and not pod.is_finished:
            if runner.groups is not None:
                runner.groups.put(pod)
            engine.queue.add(pod)
