"""Questions about clusters: simulations, plans, scenarios, records, experiments."""
