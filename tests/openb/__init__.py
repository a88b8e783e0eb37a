"""A published experiment, decision by decision; the README says which one."""
