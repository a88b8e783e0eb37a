"""A published experiment, compared decision by decision; the README names it."""
