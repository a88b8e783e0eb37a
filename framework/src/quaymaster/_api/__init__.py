"""The objects of Kubernetes' API, the fields that it has, and CEL.

It may import ``_base``, and ``kubernetes_cel``.
"""
