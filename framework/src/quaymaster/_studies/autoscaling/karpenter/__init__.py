"""Karpenter: nodes of many types, chosen for the pods that wait."""
