"""Judges profiles side by side, on arrivals that no policy has learned from.

``python -m quaymaster_learned_policy.judge`` prints the table of the README.
"""

import math
from collections.abc import Iterable, Mapping, Sequence

import attrs
import numpy as np
from quaymaster.config import SchedulerConfig, default_config, parse_config
from quaymaster.experiments import Arrival
from quaymaster.scheduler import PluginRegistry
from quaymaster.simulation import Run

from quaymaster_learned_policy.args import LEARNED
from quaymaster_learned_policy.plugin import LearnedPolicy
from quaymaster_learned_policy.workload import filled, mixed_arrivals

__all__ = ["HELD_OUT", "Verdict", "judge", "profiles", "registry", "table"]

HELD_OUT = range(200)
"""The seeds for judging; those for training begin at 1000."""


@attrs.frozen(kw_only=True)
class Verdict:
    """What a profile came to.

    Attributes:
        name: What it is called.
        filled: For each seed, which share of the cluster was in use in the end.
        placed: For each seed, how many pods had a node.
    """

    name: str
    filled: Sequence[float]
    placed: Sequence[int]


def registry() -> PluginRegistry:
    """Return the installed plugins, LearnedPolicy included."""
    return PluginRegistry.discover().with_plugin(LearnedPolicy)


def profiles(
    registered: PluginRegistry, weights: Sequence[float] = LEARNED
) -> Mapping[str, SchedulerConfig]:
    """Return the profiles that are compared: filters are those of the default one.

    Args:
        registered: Where plugins are found by name.
        weights: Those of the policy.
    """
    found = {
        strategy: _scored_by(
            registered, "NodeResourcesFit", {"scoringStrategy": {"type": strategy}}
        )
        for strategy in ("LeastAllocated", "MostAllocated")
    }
    found["default profile"] = default_config(registered)
    learned = {"weights": list(weights)}
    return {**found, "LearnedPolicy": _scored_by(registered, "LearnedPolicy", learned)}


def _scored_by(
    registered: PluginRegistry, plugin: str, args: Mapping[str, object]
) -> SchedulerConfig:
    """Return the default profile, in which one plugin scores alone."""
    score = {"disabled": [{"name": "*"}], "enabled": [{"name": plugin}]}
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [
            {
                "schedulerName": "default-scheduler",
                "plugins": {"score": score},
                "pluginConfig": [{"name": plugin, "args": dict(args)}],
            }
        ],
    }
    return parse_config(document, registered)


def judge(
    name: str, config: SchedulerConfig, registered: PluginRegistry, seeds: Iterable[int]
) -> Verdict:
    """Let a profile schedule the arrivals of each seed.

    Args:
        name: What to call it.
        config: The profile.
        registered: Where plugins are found by name.
        seeds: The seeds.
    """
    shares, counts = [], []
    for seed in seeds:
        workload = mixed_arrivals(seed)
        with Run(
            workload.objects, config=config, registry=registered, seed=seed
        ) as run:
            share = 0.0
            for arrival in workload.arrivals:
                assert isinstance(arrival, Arrival), "pods arrive, and nothing else"
                pod = run.create(arrival.made())
                step = run.attempt()
                assert step is not None, "it has just arrived"
                share += filled(run, step)
                if not step.node:
                    run.delete(pod)
            shares.append(share)
            counts.append(run.observe().placed)
    return Verdict(name=name, filled=shares, placed=counts)


def table(verdicts: Sequence[Verdict]) -> str:
    """Compare the last profile with the others, seed by seed, with 95 % intervals."""
    *others, last = verdicts
    lines = [f"{'':16} {'filled':>8} {'placed':>8}   {last.name} fills"]
    for verdict in verdicts:
        mean, placed = np.mean(verdict.filled), np.mean(verdict.placed)
        line = f"{verdict.name:16} {mean:8.1%} {placed:8.2f}"
        if verdict in others:
            gained, error = _gain(last.filled, verdict.filled)
            line += f"   {gained:+.1%} ± {error:.1%}"
        lines.append(line)
    return "\n".join(lines)


def _gain(new: Sequence[float], old: Sequence[float]) -> tuple[float, float]:
    """Return the mean difference, and half of its 95 % interval."""
    gains = np.subtract(new, old)
    error = float(np.std(gains, ddof=1)) / math.sqrt(len(gains))
    return float(np.mean(gains)), 1.96 * error


def main() -> None:
    """Print how the learned policy does beside others."""
    registered = registry()
    print(
        table(
            [
                judge(name, config, registered, HELD_OUT)
                for name, config in profiles(registered).items()
            ]
        )
    )


if __name__ == "__main__":
    main()
