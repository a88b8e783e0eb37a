"""Preemption: shared code of PostFilter plugins that make room by evicting pods.

A plugin selects the nodes whose status is Unschedulable. A `DryRun` finds the victims
on each of them, `best_candidates` compares the candidates, and `Evictions` evicts the
victims. A `VictimRule` decides which pods may be victims. A `Limit` is a condition
besides the filters.

Mirrors Kubernetes v1.36, ``pkg/scheduler/framework/preemption``.
"""
