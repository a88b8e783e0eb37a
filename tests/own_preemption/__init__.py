"""A plugin that preempts by its own rule: elastic quotas of namespaces."""
