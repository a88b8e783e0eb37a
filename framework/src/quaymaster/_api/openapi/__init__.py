"""The types of all fields of the API's objects, also of those not read here.

`fields.json.gz` is made by ``python -m tests.openapi`` from the published OpenAPI of
each version of Kubernetes (k8s.io/kubernetes, ``api/openapi-spec/swagger.json``). It
also has the fields that need a feature gate.
"""
