"""Keep pods off nodes whose taints they do not tolerate."""

from quaymaster_taint_toleration.taint_toleration import TaintToleration

__all__ = ["TaintToleration"]
