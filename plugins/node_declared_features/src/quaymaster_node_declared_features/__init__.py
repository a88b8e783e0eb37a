"""Keep a pod off nodes that lack a feature that it needs."""

from quaymaster_node_declared_features.node_declared_features import (
    NodeDeclaredFeatures,
)

__all__ = ["NodeDeclaredFeatures"]
