"""The feature gates whose defaults differ between two versions of Kubernetes.

``changed_gates.json`` has them, as `tests.gates.generate` reads them of both releases;
``verdicts.yaml`` says of each what it means here, and a test holds that it says so.
"""
