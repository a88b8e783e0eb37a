"""The types of all fields of the API's objects, also of those not read here.

`fields.json.gz` is made from the API's published OpenAPI (k8s.io/kubernetes v1.36.2,
``api/openapi-spec/swagger.json``) by ``python -m tests.openapi``.
"""
