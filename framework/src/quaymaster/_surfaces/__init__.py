"""What other programs call: reports, HTTP answers, extender, operation, deployment.

It may import the groups from ``_base`` to ``_studies``.

- ``reporting``: pages for a browser.
- ``service``: answers over HTTP what would happen to a pod.
- ``extender_server``: a profile as the extender of another scheduler.
- ``operation``: health, metrics and configuration of a running scheduler.
- ``deploy``: roles, manifests and checks for a cluster.
"""
