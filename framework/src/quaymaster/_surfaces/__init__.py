"""What others call: reports, HTTP answers, extender, operation, deployment."""
