"""Which nodes pending pods go to, and which claims for new nodes they need."""
