"""The types of all fields of the API's objects, also of those that we do not read.

``python -m tests.openapi`` makes `fields.json.gz` from the published OpenAPI of each
version of Kubernetes (k8s.io/kubernetes, ``api/openapi-spec/swagger.json``). It also
has the fields that need a feature gate.
"""
