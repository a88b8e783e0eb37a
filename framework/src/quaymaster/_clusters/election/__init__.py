"""Leader election: selects the active replica, and prevents writes of the others."""
