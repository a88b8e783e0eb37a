"""What plugins see: hooks, results, state and handle."""
