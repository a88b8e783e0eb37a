"""Checks whether the repository is ready for a release: see RELEASING.md."""
