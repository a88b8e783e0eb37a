"""Webhooks that take part in decisions, called over HTTP."""
