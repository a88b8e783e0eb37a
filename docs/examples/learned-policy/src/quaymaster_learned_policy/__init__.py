"""Pods go where a policy sends them that was learned by trying."""

from quaymaster_learned_policy.args import LearnedPolicyArgs
from quaymaster_learned_policy.plugin import LearnedPolicy

__all__ = ["LearnedPolicy", "LearnedPolicyArgs"]
