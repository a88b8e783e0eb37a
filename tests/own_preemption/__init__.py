"""A plugin that preempts by a rule of its own: elastic quotas of namespaces."""
