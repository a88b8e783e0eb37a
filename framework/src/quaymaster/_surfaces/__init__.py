"""What others call: reports, HTTP answers, extender, operation, deployment.

It may import the groups from ``_base`` to ``_studies``.
"""
