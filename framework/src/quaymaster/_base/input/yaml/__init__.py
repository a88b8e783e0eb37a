"""Reads YAML as Kubernetes' tools do.

Mirrors sigs.k8s.io/yaml v1.6 on go.yaml.in/yaml v2.4: it has the booleans of YAML 1.1.
Times and numbers in base 60 (``12:30``) are strings, and so is every key. The last
value of a repeated key counts. Merged mappings apply at the place where they are
written. There are two differences: digits that are grouped by underscores (``1_000``)
stay a string, and tags that Kubernetes does not use are errors.
"""
