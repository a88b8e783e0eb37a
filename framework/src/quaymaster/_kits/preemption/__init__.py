"""Preemption: what PostFilter plugins share which make room by evicting pods.

A plugin finds the nodes that are worth a try (those whose status is Unschedulable),
asks a `DryRun` which pods would have to go from each, chooses among the candidates with
`best_candidates`, and lets `Evictions` do the work. Who may have to go for whom is a
`VictimRule`, and what must hold beside the filters a `Limit`.

Mirrors Kubernetes v1.36, ``pkg/scheduler/framework/preemption``.
"""
