"""Reads YAML as Kubernetes' tools do.

Mirrors sigs.k8s.io/yaml v1.6 on go.yaml.in/yaml v2.4: the booleans of YAML 1.1, times
and numbers in base 60 (``12:30``) as strings, every key a string, of a key that comes
twice the last value, merged mappings taken where they stand. Two differences: digits
that are grouped by underscores (``1_000``) stay a string, and tags that Kubernetes
does not use are errors.
"""
