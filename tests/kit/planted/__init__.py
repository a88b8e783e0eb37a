"""Correct plugins of third parties, and the mistakes that were planted in them."""
