"""Upstream's scheduling-queue traces, played against the product's own queue."""
