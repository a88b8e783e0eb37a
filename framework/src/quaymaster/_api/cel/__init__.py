"""CEL, the expression language of Kubernetes, as device selectors have it."""
