"""The feature gates whose defaults differ between two versions of Kubernetes.

`tests.gates.generate` reads them from both releases into ``changed_gates.json``.
`tests.gates.verdicts` has the effect of each gate on the product; a test checks that
none is missing.
"""
