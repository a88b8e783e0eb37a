"""What tests of the repository share: clusters, workloads, and what else more need.

Tests of plugins do without: they use `quaymaster.testing`, as a stranger's tests would.
"""
