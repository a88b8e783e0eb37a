"""Which private modules a process must not load for a small task."""

__all__ = ["HEAVY_FOR_HELP", "HEAVY_FOR_MAKERS", "HEAVY_FOR_SIMULATE", "MAKERS"]

MAKERS = "quaymaster._authors"
"""The package of the makers and of the other test tools."""

HEAVY_FOR_MAKERS = (
    "quaymaster._authors.testing.harness",
    "quaymaster._authors.testing.scheduler_harness",
    "quaymaster._clusters",
    "quaymaster._core.cycle",
    "quaymaster._core.engine",
    "quaymaster._core.registry",
    "quaymaster._studies",
    "quaymaster._surfaces",
    "hypothesis",
    "numpy",
    "pluggy",
)
"""Modules that making a pod must not load."""

HEAVY_FOR_HELP = (
    "quaymaster._api",
    "quaymaster._authors",
    "quaymaster._cli.configuration",
    "quaymaster._cli.inputs",
    "quaymaster._cli.simulate",
    "quaymaster._clusters",
    "quaymaster._core",
    "quaymaster._studies",
    "quaymaster._surfaces",
    "cattrs",
    "msgspec",
    "numpy",
    "rich.console",
    "rich.progress",
    "yaml",
)
"""Modules that printing the help of a command must not load."""

HEAVY_FOR_SIMULATE = (
    "quaymaster._authors",
    "quaymaster._base.input.yaml.streams",
    "quaymaster._cli.timings",
    "quaymaster._clusters.driver",
    "quaymaster._clusters.inmemory.admission.kinds",
    "quaymaster._clusters.inmemory.controllers.devices",
    "quaymaster._clusters.inmemory.controllers.workloads",
    "quaymaster._clusters.kubernetes",
    "quaymaster._clusters.manifests.custom_kinds",
    "quaymaster._clusters.manifests.foreign",
    "quaymaster._core.engine.measured_events",
    "quaymaster._core.mutations",
    "quaymaster._core.runtime.observed",
    "quaymaster._studies.capacity",
    "quaymaster._studies.simulation.explained",
    "quaymaster._studies.simulation.observed",
    "quaymaster._surfaces",
    "kubernetes_cel",
    "packaging",
)
"""Modules that a simulation of a few nodes and pods, without options, must not load."""
