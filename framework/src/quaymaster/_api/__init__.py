"""The objects of Kubernetes' API, the fields that it has, and CEL."""
