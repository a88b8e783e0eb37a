"""The contract with plugins: hooks, results, state and handle."""
